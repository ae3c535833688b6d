// keysieve pull: the current generation in a store becomes a snapshot file.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/cli/options.hpp"
#include "tools/cli/progress.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/set_names.hpp"
#include "tools/cli/snapshot_file.hpp"
#include "tools/cli/verbs.hpp"
#include "tools/program/durable_file.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

struct PullOptions {
  std::string store_url;
  std::string set_name;
  std::string output_path;
  PublicKeys public_keys;
  bool json = false;
};

Pulled pull_set(Store& store, const std::string& set_name) {
  ProgressLine progress("pulling from " + store.name());
  return pull(store, set_name, 0, progress.in_bytes());
}

void pull_and_report(const PullOptions& options) {
  const auto store = open_given_store(options.store_url, StoreUse::Read);
  check_pushed(*store, options.set_name);
  const Pulled pulled = pull_set(*store, options.set_name);
  const std::string source = name_of(*store, options.set_name, pulled.record);
  const SnapshotView view = SnapshotView::decode(pulled.snapshot.get(), source, Check::Tables);
  check_signer(view, options.public_keys, source);
  write_durable_file(options.output_path, pulled.snapshot.get());
  remove_file(counters_path(options.output_path));  // of the file before: push would refuse them
  Report report;
  report.add("written", options.output_path, "file", options.output_path);
  report.add("generation", std::to_string(pulled.record.generation), "generation", pulled.record.generation);
  add_snapshot_summary(report, view);
  report.print(options.json);
}

}  // namespace

void add_pull(CLI::App& program, VerbResult& /*result*/) {
  auto options = std::make_shared<PullOptions>();
  CLI::App* verb = add_verb(program, "pull", "Fetch the current generation of a set from a store into a file",
                            "  keysieve pull tags lmdb:/var/lib/keysieve -o tags.ks\n"
                            "  keysieve pull tags redis://cache:6379/2 -o tags.ks --json");
  add_argument_and_url(verb, "SET", options->set_name, "Name of the set", options->store_url);
  verb->add_option("-o,--output", options->output_path, "Snapshot file to write")
      ->required()
      ->type_name("FILE.ks");
  add_public_keys(verb, options->public_keys);
  add_json(verb, options->json);
  verb->callback([options] {
    put_url_last(options->set_name, options->store_url);
    pull_and_report(*options);
  });
}

}  // namespace keysieve
