// keysieve delete: a published set leaves a store, or a seen set this host.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "core/worker/base/error.hpp"
#include "core/worker/base/set_name.hpp"
#include "tools/cli/delete_seen.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/set_names.hpp"
#include "tools/cli/verbs.hpp"
#include "tools/program/units.hpp"
#include "tools/transfer/delete_set.hpp"
#include "tools/transfer/stored_sets.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

struct DeleteOptions {
  std::string set_name;
  std::string store_url;  // empty: the set is a seen set
  std::string directory;
  std::optional<std::string> seen_store_url;
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
  if (!has_anything_of(*store, options.set_name)) {
    if (holds_seen_set(*store, options.set_name)) {
      throw Error(ErrorKind::MissingInput,
                  fmt::format("{0}: \"{1}\" is a seen set there: keysieve delete {1} --store {0}",
                              store->name(), options.set_name));
    }
    check_pushed(*store, options.set_name);
  }
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

int delete_seen(const DeleteOptions& options) {
  if (is_store_url(options.set_name)) throw Error(ErrorKind::Usage, "SET is missing");
  if (!options.seen_store_url && !has_seen_set(options.directory, checked_set_name(options.set_name))) {
    throw Error(ErrorKind::Usage,
                fmt::format("URL is missing: directory {} has no seen set \"{}\", and other sets are deleted "
                            "from a store",
                            options.directory, options.set_name));
  }
  return delete_seen_and_report({.set_name = options.set_name,
                                 .directory = options.directory,
                                 .store_url = options.seen_store_url,
                                 .yes = options.yes,
                                 .json = options.json});
}

}  // namespace

void add_delete(CLI::App& program, VerbResult& result) {
  auto options = std::make_shared<DeleteOptions>();
  CLI::App* verb = add_verb(
      program, "delete", "Remove a set from a store, or a seen set from this host",
      "  keysieve delete sale lmdb:/var/lib/keysieve\n"
      "  keysieve delete sale --yes redis://cache:6379/2 --json\n"
      "With a URL: all generations, what was added, and what interrupted pushes have left, even if the\n"
      "store has lost the set's record. Hosts keep what they have live, and their loaders\n"
      "say that the store has lost it. So stop the job that pushes the set, and remove it from every\n"
      "keysieve.toml and host first (docs/operate.md).\n"
      "  keysieve delete clicks\n"
      "  keysieve delete clicks --store redis://cache:6379/2\n"
      "Without a URL: a seen set of this host, with its memory; --store also deletes what all hosts have\n"
      "saved of it. While keysieved has the set configured, it is refused: remove its [[seen]] and reload\n"
      "keysieved first, on every host. Run it as the user of keysieved, or as root.\n"
      "delete asks first on a terminal; exit status 1 if you decline. It can be repeated after an\n"
      "interruption.");
  verb->add_option("SET", options->set_name, "Name of the set")->required();
  auto* url = verb->add_option("URL", options->store_url, store_help() + " [a seen set of this host]");
  verb->add_option("--store", options->seen_store_url,
                   "Also delete what was saved of the seen set in this store: " + store_schemes())
      ->type_name("URL")
      ->excludes(url);
  add_directory(verb, options->directory);
  verb->add_flag("-y,--yes", options->yes, "Do not ask");
  add_json(verb, options->json);
  verb->callback([options, &result] {
    if (options->store_url.empty()) {
      result.exit_status = delete_seen(*options);
      return;
    }
    put_url_last(options->set_name, options->store_url);
    result.exit_status = delete_and_report(*options);
  });
}

}  // namespace keysieve
