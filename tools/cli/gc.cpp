// keysieve gc: removes from a store what nobody needs any more.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "core/worker/base/error.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/progress.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/verbs.hpp"
#include "tools/program/program.hpp"
#include "tools/program/units.hpp"
#include "tools/transfer/garbage.hpp"

namespace keysieve {
namespace {

struct GcOptions {
  std::string store_url;
  std::chrono::milliseconds older_than = kAbandonedAfter;
  bool dry_run = false;
  bool json = false;
};

Collection collect(const GcOptions& options, Store& store) {
  ProgressLine progress("looking through " + store.name());
  progress.announce("listing");
  return collect_garbage(
      store,
      {.now = unix_now(),
       .abandoned_after = std::chrono::ceil<std::chrono::seconds>(options.older_than),
       .dry_run = options.dry_run},
      [&progress](std::uint64_t done, std::uint64_t total) { progress.show_count(done, total, "chunks"); });
}

void print_text(const GcOptions& options, const Store& store, const Collection& collection) {
  Table table({"set", "generations kept", "pushes under way",
               options.dry_run ? "chunks to remove" : "chunks removed", "of pushes", "adds trimmed to"});
  for (const CollectedSet& set : collection.sets) {
    table.add({set.set_name, std::to_string(set.kept_generations), std::to_string(set.pending_pushes),
               format_count(set.removed_chunks), format_count(set.removed_pushes),
               set.adds_trimmed_to == LogPosition{} ? "-" : to_text(set.adds_trimmed_to)});
  }
  if (collection.sets.empty()) {
    fmt::print("{}: holds no sets\n", store.name());
  } else {
    table.print();
  }
  if (collection.foreign_records != 0) {
    fmt::print("{}: {} other records begin with {}: and are left alone\n", store.name(),
               format_count(collection.foreign_records), store.prefix());
  }
}

void print_as_json(const GcOptions& options, const Store& store, const Collection& collection) {
  Json sets = Json::array();
  for (const CollectedSet& set : collection.sets) {
    sets.push_back({{"set", set.set_name},
                    {"kept_generations", set.kept_generations},
                    {"pending_pushes", set.pending_pushes},
                    {"removed_pushes", set.removed_pushes},
                    {"removed_chunks", set.removed_chunks},
                    {"adds_trimmed_to", to_text(set.adds_trimmed_to)},
                    {"failure", set.failure ? Json(set.failure->what()) : Json()}});
  }
  print_json({{"store", store.name()},
              {"dry_run", options.dry_run},
              {"sets", sets},
              {"foreign_records", collection.foreign_records}});
}

// Returns the exit status: that of the first set that failed.
int gc(const GcOptions& options) {
  const auto store = open_given_store(options.store_url, StoreUse::Collect);
  const Collection collection = collect(options, *store);
  options.json ? print_as_json(options, *store, collection) : print_text(options, *store, collection);
  int status = 0;
  for (const CollectedSet& set : collection.sets) {
    if (!set.failure) continue;
    print_note(fmt::format("set \"{}\" is left as it is: {}", set.set_name, set.failure->what()));
    if (status == 0) status = exit_status_of(set.failure->kind());
  }
  return status;
}

}  // namespace

void add_gc(CLI::App& program, VerbResult& result) {
  auto options = std::make_shared<GcOptions>();
  CLI::App* verb = add_verb(
      program, "gc", "Remove what interrupted pushes left in a store",
      "  keysieve gc lmdb:/var/lib/keysieve\n"
      "  keysieve gc redis://cache:6379/2 --dry-run --json\n"
      "  keysieve gc lmdb:/var/lib/keysieve --older-than 1h\n"
      "Pushes clean up after themselves; gc finds what they cannot see. It reads the names of all\n"
      "records in the store, so once per day or week is enough. It is safe at any time, even during\n"
      "a push.");
  verb->add_option("URL", options->store_url, store_help())->required();
  verb->add_flag("--dry-run", options->dry_run, "Say what would be removed, and change nothing");
  add_parsed(
      verb, "--older-than", options->older_than, parse_duration,
      "Treat a push that began this long ago as interrupted; if it is still running, it starts again [24h]")
      ->type_name("DURATION");
  add_json(verb, options->json);
  verb->callback([options, &result] { result.exit_status = gc(*options); });
}

}  // namespace keysieve
