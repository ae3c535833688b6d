// keysieve push: a snapshot file becomes the next generation in a store.
#include <fmt/core.h>

#include "tools/cli/snapshot_file.hpp"
#include "tools/cli/verb.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

// The push is done: whatever goes wrong here is no failure.
std::vector<std::string> risks_of(Store& store, const std::string& set_name) {
  try {
    std::vector<std::string> risks = store.risks(has_adds(store, set_name));
    for (std::string& risk : risks) risk.insert(0, store.name() + ": ");
    return risks;
  } catch (const Error&) {
    return {};
  }
}

class PushVerb {
 public:
  void declare(CLI::App* verb) {
    add_argument_and_url(verb, "FILE", path_, "Snapshot file", store_url_);
    add_guards(verb, guards_);
    verb->add_flag("--allow-any-as-of", allow_any_as_of_,
                   "Push keys that were read before those of the current generation, or that are as of a "
                   "moment in the future: keys added since may be absent")
        ->group("Guards");
    add_key_format(verb, format_);
    verb->add_flag("--dry-run", dry_run_,
                   "Check everything, say what would be pushed, and change nothing; does not create a store");
  }

  int run() {
    const auto store =
        open_given_store(store_url_, StoreUse::Write, dry_run_ ? IfMissing::Refuse : IfMissing::Create);
    const PushResult pushed = push_file(*store);
    for (const std::string& warning : pushed.warnings) print_warning(warning);
    Report report;
    report.add("store", store->name());
    if (dry_run_) report.add("dry run", "nothing is written; a push would do this", "dry_run", true);
    report.add("replaces",
               pushed.replaces ? summary_of(*pushed.replaces) : "nothing: it is the first push of the set",
               "replaces", pushed.replaces ? Json(pushed.replaces->generation) : Json());
    report.add("generation", std::to_string(pushed.record.generation), "generation",
               pushed.record.generation);
    report.add("keys", format_count(pushed.record.key_count), "key_count", pushed.record.key_count);
    report.add("size",
               fmt::format("{} in {}", format_bytes(pushed.record.bytes),
                           format_count_of(pushed.record.chunk_count(), "chunk")),
               "bytes", pushed.record.bytes);
    report.add_member("dry_run", dry_run_);
    report.print();
    return 0;
  }

 private:
  PushResult push_file(Store& store) {
    Guards guards = guards_.guards(format_);
    guards.allow_any_as_of = allow_any_as_of_;
    const SnapshotFile file(path_, Check::Everything);
    PushResult pushed = [&] {
      if (dry_run_) return plan_push(store, file.view(), guards);
      ProgressLine progress("pushing to " + store.name());
      return push(store, file.view(), guards, progress.in_bytes());
    }();
    for (const std::string& risk : risks_of(store, std::string(file.view().set_name())))
      pushed.warnings.push_back(risk);
    return pushed;
  }

  std::string path_;
  std::string store_url_;
  KeyFileFormat format_;
  GuardOptions guards_;
  bool allow_any_as_of_ = false;
  bool dry_run_ = false;
};

}  // namespace

extern const Verb kPush{
    "push", "Make a snapshot file the next generation in a store",
    "  keysieve push tags.ks lmdb:/var/lib/keysieve\n"
    "  keysieve push --dry-run tags.ks lmdb:/var/lib/keysieve\n"
    "  keysieve push --required-keys must-be-there.txt tags.ks redis+unix:///run/redis/redis.sock\n"
    "  keysieve push --allow-shrink tags.ks "
    "'redis://builder@cache:6379/2?password_file=/etc/keysieve/builder.password'",
    prepare<PushVerb>};

}  // namespace keysieve
