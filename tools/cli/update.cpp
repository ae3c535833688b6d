// keysieve update: keys into the current generation of a set and out of it, which becomes the next one.
#include "tools/transfer/update.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/cli/options.hpp"
#include "tools/cli/progress.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/set_names.hpp"
#include "tools/cli/verbs.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

struct UpdateOptions {
  std::string set_name;
  std::string store_url;
  std::vector<std::string> add_paths;
  std::vector<std::string> remove_paths;
  std::optional<UnixSeconds> as_of;
  KeyFileFormat format;
  bool allow_suspect_keys = false;
  GuardOptions guards;
  std::shared_ptr<const SigningKey> sign_key;
  bool json = false;
};

std::vector<std::string> read_lists(const std::vector<std::string>& paths, const UpdateOptions& options) {
  std::vector<std::string> keys;
  for (const std::string& path : paths) {
    ProgressLine progress("reading " + key_source(path));
    const KeysRead read = read_keys(path, options.format, [&](std::string_view key) {
      keys.emplace_back(key);
      progress.show_keys(keys.size());
    });
    check_suspect_keys(path, read, options.allow_suspect_keys);
  }
  return keys;
}

KeyChanges changes_of(const UpdateOptions& options) {
  if (options.add_paths.empty() && options.remove_paths.empty()) {
    throw Error(ErrorKind::Usage, "give a list of keys to --add or --remove");
  }
  KeyChanges changes{.added = {}, .removed = {}, .as_of = options.as_of.value_or(unix_now())};
  changes.added = read_lists(options.add_paths, options);
  changes.removed = read_lists(options.remove_paths, options);
  return changes;
}

UpdateResult update_set(const UpdateOptions& options, Store& store, const KeyChanges& changes) {
  Guards guards = options.guards.guards(options.format);
  guards.source = GuardSource::OptionsOfUpdate;
  ProgressLine progress("updating " + options.set_name + " in " + store.name());
  return update(store, options.set_name, changes, guards, progress.in_bytes(), options.sign_key.get());
}

void update_and_report(const UpdateOptions& options) {
  checked_set_name(options.set_name);
  const auto store = open_given_store(options.store_url, StoreUse::Write);
  check_pushed(*store, options.set_name);
  const KeyChanges changes = changes_of(options);
  const UpdateResult updated = update_set(options, *store, changes);
  const SnapshotRecord& record = updated.pushed.record;
  print_warnings(updated.pushed.warnings);
  Report report;
  report.add("set", options.set_name, "set", options.set_name);
  report.add("store", store->name(), "store", store->name());
  report.add("generation", std::to_string(record.generation), "generation", record.generation);
  report.add("keys read", format_count(changes.added.size()), "keys_read", changes.added.size());
  const std::string at_least = updated.is_exact ? "" : "at least ";
  report.add("new keys", at_least + format_count(updated.new_keys), "new_keys", updated.new_keys);
  report.add(
      "removed keys",
      fmt::format("{} of {}", format_count(updated.removed_keys), format_count(updated.keys_to_remove)),
      "removed_keys", updated.removed_keys);
  report.add_member("keys_to_remove", updated.keys_to_remove);
  report.add("keys", at_least + format_count(record.key_count), "key_count", record.key_count);
  report.add("estimated FPR", format_share(updated.estimated_fpr), "estimated_fpr", updated.estimated_fpr);
  report.add("as of", format_moment(record.as_of), "as_of", record.as_of);
  report.print(options.json);
}

// One list each time that the option is given.
void add_lists(CLI::App* verb, const std::string& name, std::vector<std::string>& paths,
               const std::string& help) {
  verb->add_option(name, paths, help)
      ->type_name("FILE")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

void add_update(CLI::App& program, VerbResult& /*result*/) {
  auto options = std::make_shared<UpdateOptions>();
  CLI::App* verb = add_verb(
      program, "update",
      "Add keys to a store's current generation, or remove some, without the list of all keys",
      "  keysieve update tags --add new.txt lmdb:/var/lib/keysieve\n"
      "  keysieve update tags --add monday.txt --add tuesday.txt redis://cache:6379/2 --json\n"
      "  keysieve update bans --add new.txt --remove lifted.txt lmdb:/var/lib/keysieve\n"
      "Remove only keys that are in the set, and never the same list twice. Removing a key that is not in\n"
      "the set but comes back as maybe removes another key, which then is absent. Keys that are certainly\n"
      "absent are skipped, and not counted as removed.\n"
      "If the kind can remove keys, --add counts each key once more even if it is already there: add only\n"
      "new keys. With other kinds, a key that came back as maybe before is not counted as new, so key\n"
      "counts are lower estimates.\n"
      "The estimated FPR rises with every key until --max-fpr refuses; then build the set again with\n"
      "build --like. A push in between is not undone: the keys are added to what it brought.");
  add_argument_and_url(verb, "SET", options->set_name, "Name of the set", options->store_url);
  add_lists(verb, "--add", options->add_paths, "Add the keys of this list; - reads standard input");
  add_lists(verb, "--remove", options->remove_paths,
            "Remove the keys of this list, for kinds that can: " + kind_names([](const FilterKind& kind) {
              return kind.can_remove();
            }) + "; with build --counting: " +
                kind_names([](const FilterKind& kind) { return kind.can_count(); }));
  add_key_format(verb, options->format);
  add_allow_suspect_keys(verb, options->allow_suspect_keys);
  add_as_of(
      verb, options->as_of,
      "When the added keys began to be read from their source, on a replica the moment that it had reached "
      "[now]; the as-of of the set where that is later");
  add_sign_key(verb, options->sign_key)
      ->description(
          "For a signed set: the file of the secret key that has signed what is current, and now "
          "signs the next generation");
  add_guards(verb, options->guards);
  verb->get_option("--max-fpr")
      ->description("Refuse a set whose estimated FPR is higher [three times its target, at least 0.1%]");
  add_json(verb, options->json);
  verb->callback([options] {
    put_url_last(options->set_name, options->store_url);
    update_and_report(*options);
  });
}

}  // namespace keysieve
