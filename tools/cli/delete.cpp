// keysieve delete: a set leaves a store.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "core/base/error.hpp"
#include "core/base/set_name.hpp"
#include "tools/cli/confirm.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/set_names.hpp"
#include "tools/cli/verbs.hpp"
#include "tools/program/units.hpp"
#include "tools/transfer/delete_set.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

struct DeleteOptions {
  std::string set_name;
  std::string store_url;
  bool yes = false;
  bool json = false;
};

// Also names what has no generation: adds to a mistyped name, or what a killed delete has left.
std::string what_is_deleted(const DeleteOptions& options, Store& store) {
  const std::string set = fmt::format("{}: set \"{}\"", store.name(), options.set_name);
  const auto pointer = read_pointer(store, options.set_name);
  if (!pointer) return set + ", which has no generation";
  return fmt::format("{}, {} as of {}", set, format_count_of(pointer->current->key_count, "key"),
                     format_moment(pointer->current->as_of));
}

bool is_wanted(const DeleteOptions& options, Store& store) {
  if (options.yes) return true;
  const std::string what = what_is_deleted(options, store);
  return is_confirmed(
      what + "\nDelete it with all kept generations and its adds? This cannot be undone.",
      what + ", would be deleted with all kept generations and its adds, which cannot be undone");
}

// Returns the exit status.
int delete_and_report(const DeleteOptions& options) {
  checked_set_name(options.set_name);
  const auto store = open_given_store(options.store_url, StoreUse::Write);
  if (!has_anything_of(*store, options.set_name)) check_pushed(*store, options.set_name);
  if (!is_wanted(options, *store)) return kExitDeclined;
  const DeletedSet deleted = delete_set(*store, options.set_name);
  if (deleted.is_still_bypassed) {
    print_warning(
        fmt::format("set \"{0}\" stays bypassed in {1}: hosts that still have it live would answer from it "
                    "again. Once none has: keysieve bypass {0} --off --store URL",
                    options.set_name, store->name()));
  }
  Report report;
  report.add("set", options.set_name, "set", options.set_name);
  report.add("store", store->name(), "store", store->name());
  report.add("deleted",
             fmt::format("{} in {}", format_count_of(deleted.generations, "generation"),
                         format_count_of(deleted.chunks, "chunk")),
             "removed_generations", deleted.generations);
  report.add_member("removed_chunks", deleted.chunks);
  report.add_member("still_bypassed", deleted.is_still_bypassed);
  report.print(options.json);
  return 0;
}

}  // namespace

void add_delete(CLI::App& program, Outcome& outcome) {
  auto options = std::make_shared<DeleteOptions>();
  CLI::App* verb = add_verb(
      program, "delete", "Remove a set from a store: all generations, and what was added",
      "  keysieve delete sale lmdb:/var/lib/keysieve\n"
      "  keysieve delete sale --yes redis://cache:6379/2 --json\n"
      "Hosts keep what they have live, and their loaders say that the store has lost it. So stop the job\n"
      "that pushes the set, and remove it from every keysieve.toml and host first (docs/operate.md). delete\n"
      "asks first on a terminal; exit status 1 if you decline. It can be repeated after an interruption.");
  add_argument_and_url(verb, "SET", options->set_name, "Name of the set", options->store_url);
  verb->add_flag("-y,--yes", options->yes, "Do not ask");
  add_json(verb, options->json);
  verb->callback([options, &outcome] {
    put_url_last(options->set_name, options->store_url);
    outcome.exit_status = delete_and_report(*options);
  });
}

}  // namespace keysieve
