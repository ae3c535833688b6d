// keysieve pull: the current generation in a store becomes a snapshot file.
#include <filesystem>

#include "tools/cli/set_names.hpp"
#include "tools/cli/snapshot_file.hpp"
#include "tools/cli/verb.hpp"
#include "tools/program/durable_file.hpp"
#include "tools/signatures/public_keys.hpp"
#include "tools/transfer/guards.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

Pulled pull_set(Store& store, const std::string& set_name) {
  ProgressLine progress("pulling from " + store.name());
  return pull(store, set_name, progress.in_bytes());
}

class PullVerb {
 public:
  void declare(CLI::App* verb) {
    add_argument_and_url(verb, "SET", set_name_, "Name of the set", store_url_);
    add_text(verb, "-o,--output FILE.ks", output_path_, "Snapshot file to write")->required();
    add_public_keys(verb, public_keys_);
  }

  int run() {
    const auto store = open_given_store(store_url_, StoreUse::Read);
    check_pushed(*store, set_name_);
    const Pulled pulled = pull_set(*store, set_name_);
    const std::string source = name_of(*store, set_name_, pulled.record);
    const SnapshotView view = SnapshotView::decode(pulled.snapshot.get(), source, Check::Tables);
    check_signer(view, public_keys_, source);
    check_not_older(moment_of(view.header()), source + " is signed", moment_there(), output_path_,
                    "anyone who may write to the store could have brought that back; build the set again, or "
                    "remove the file to take it all the same");
    write_durable_file(output_path_, pulled.snapshot.get());
    Report report;
    report.add("written", output_path_, "file", output_path_);
    report.add("generation", std::to_string(pulled.record.generation), "generation",
               pulled.record.generation);
    add_snapshot_summary(report, view, view.fill_ratio());
    report.print();
    return 0;
  }

 private:
  // The moment of the file that would be replaced; zero unless that is a snapshot of that set, signed by one
  // of the keys.
  SnapshotMoment moment_there() {
    std::error_code unknown;
    const bool is_there = std::filesystem::is_regular_file(output_path_, unknown);
    if (public_keys_.empty() || !is_there) return {};
    try {
      const SnapshotFile file(output_path_, Check::Tables);
      file.view().check_set_name(set_name_, output_path_);
      check_signature(file.view(), public_keys_, output_path_);
      return moment_of(file.view().header());
    } catch (const Error& error) {
      if (!is_refusal(error)) throw;
      return {};
    }
  }

  std::string store_url_;
  std::string set_name_;
  std::string output_path_;
  PublicKeys public_keys_;
};

}  // namespace

extern const Verb kPull{"pull", "Fetch the current generation of a set from a store into a file",
                        "  keysieve pull tags lmdb:/var/lib/keysieve -o tags.ks\n"
                        "  keysieve pull tags redis://cache:6379/2 -o tags.ks --json",
                        prepare<PullVerb>};

}  // namespace keysieve
