// keysieve push: a snapshot file becomes the next generation in a store.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "core/worker/base/error.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/snapshot_file.hpp"
#include "tools/program/units.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

struct PushOptions {
  std::string path;
  std::string store_url;
  KeyFileFormat format;
  GuardOptions guards;
  bool allow_any_as_of = false;
  bool dry_run = false;
};

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

PushResult push_file(const PushOptions& options, Store& store) {
  Guards guards = options.guards.guards(options.format);
  guards.allow_any_as_of = options.allow_any_as_of;
  const SnapshotFile file(options.path, Check::Everything);
  PushResult pushed = [&] {
    if (options.dry_run) return plan_push(store, file.view(), guards);
    ProgressLine progress("pushing to " + store.name());
    return push(store, file.view(), guards, progress.in_bytes());
  }();
  for (const std::string& risk : risks_of(store, std::string(file.view().set_name())))
    pushed.warnings.push_back(risk);
  return pushed;
}

std::string summary_of(const std::optional<SnapshotRecord>& record) {
  if (!record) return "nothing: it is the first push of the set";
  return fmt::format("generation {}: as of {}, {}, {}", record->generation, format_moment(record->as_of),
                     format_count_of(record->key_count, "key"), record->kind);
}

void push_and_report(const PushOptions& options) {
  const auto store = open_given_store(options.store_url, StoreUse::Write,
                                      options.dry_run ? IfMissing::Refuse : IfMissing::Create);
  const PushResult pushed = push_file(options, *store);
  for (const std::string& warning : pushed.warnings) print_warning(warning);
  Report report;
  report.add("store", store->name(), "store", store->name());
  if (options.dry_run) report.add("dry run", "nothing is written; a push would do this", "dry_run", true);
  report.add("replaces", summary_of(pushed.replaces), "replaces",
             pushed.replaces ? Json(pushed.replaces->generation) : Json());
  report.add("generation", std::to_string(pushed.record.generation), "generation", pushed.record.generation);
  report.add("keys", format_count(pushed.record.key_count), "key_count", pushed.record.key_count);
  report.add("size",
             fmt::format("{} in {}", format_bytes(pushed.record.bytes),
                         format_count_of(pushed.record.chunk_count(), "chunk")),
             "bytes", pushed.record.bytes);
  report.add_member("dry_run", options.dry_run);
  report.print();
}

}  // namespace

void add_push(CLI::App& program, VerbResult& /*result*/) {
  auto options = std::make_shared<PushOptions>();
  CLI::App* verb = add_verb(
      program, "push", "Make a snapshot file the next generation in a store",
      "  keysieve push tags.ks lmdb:/var/lib/keysieve\n"
      "  keysieve push --dry-run tags.ks lmdb:/var/lib/keysieve\n"
      "  keysieve push --required-keys must-be-there.txt tags.ks redis+unix:///run/redis/redis.sock\n"
      "  keysieve push --allow-shrink tags.ks "
      "'redis://builder@cache:6379/2?password_file=/etc/keysieve/builder.password'");
  add_argument_and_url(verb, "FILE", options->path, "Snapshot file", options->store_url);
  add_guards(verb, options->guards);
  verb->add_flag("--allow-any-as-of", options->allow_any_as_of,
                 "Push keys that were read before those of the current generation, or that are as of a "
                 "moment in the future: keys added since may be absent")
      ->group("Guards");
  add_key_format(verb, options->format);
  verb->add_flag("--dry-run", options->dry_run,
                 "Check everything, say what would be pushed, and change nothing; does not create a store");
  verb->callback([options] {
    put_url_last(options->path, options->store_url);
    push_and_report(*options);
  });
}

}  // namespace keysieve
