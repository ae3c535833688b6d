// keysieve pull: the current generation in a store becomes a snapshot file.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "core/worker/base/error.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/set_names.hpp"
#include "tools/cli/snapshot_file.hpp"
#include "tools/program/durable_file.hpp"
#include "tools/signatures/public_keys.hpp"
#include "tools/transfer/guards.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

struct PullOptions {
  std::string store_url;
  std::string set_name;
  std::string output_path;
  PublicKeys public_keys;
};

Pulled pull_set(Store& store, const std::string& set_name) {
  ProgressLine progress("pulling from " + store.name());
  return pull(store, set_name, progress.in_bytes());
}

// The moment of the file that would be replaced; zero unless that is a snapshot of that set, signed by one of
// the keys.
SnapshotMoment moment_there(const PullOptions& options) {
  std::error_code unknown;
  const bool is_there = std::filesystem::is_regular_file(options.output_path, unknown);
  if (options.public_keys.empty() || !is_there) return {};
  try {
    const SnapshotFile file(options.output_path, Check::Tables);
    file.view().check_set_name(options.set_name, options.output_path);
    check_signature(file.view(), options.public_keys, options.output_path);
    return moment_of(file.view().header());
  } catch (const Error& error) {
    if (!is_refusal(error)) throw;
    return {};
  }
}

void pull_and_report(const PullOptions& options) {
  const auto store = open_given_store(options.store_url, StoreUse::Read);
  check_pushed(*store, options.set_name);
  const Pulled pulled = pull_set(*store, options.set_name);
  const std::string source = name_of(*store, options.set_name, pulled.record);
  const SnapshotView view = SnapshotView::decode(pulled.snapshot.get(), source, Check::Tables);
  check_signer(view, options.public_keys, source);
  check_not_older(moment_of(view.header()), source + " is signed", moment_there(options), options.output_path,
                  "anyone who may write to the store could have brought that back; build the set again, or "
                  "remove the file to take it all the same");
  write_durable_file(options.output_path, pulled.snapshot.get());
  Report report;
  report.add("written", options.output_path, "file", options.output_path);
  report.add("generation", std::to_string(pulled.record.generation), "generation", pulled.record.generation);
  add_snapshot_summary(report, view, view.fill_ratio());
  report.print();
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
  verb->callback([options] {
    put_url_last(options->set_name, options->store_url);
    pull_and_report(*options);
  });
}

}  // namespace keysieve
