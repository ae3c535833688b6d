// keysieve add: keys to the adds log of a set, from where every loader puts them into its live layer.

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/set_names.hpp"
#include "tools/program/units.hpp"
#include "tools/transfer/adds_log.hpp"

namespace keysieve {
namespace {

struct AddOptions {
  std::string set_name;
  std::vector<std::string> keys_and_url;
  std::string key_path;
  std::string directory;
  KeyFileFormat format;
  bool allow_suspect_keys = false;
  bool allow_unknown_set = false;
};

std::string take_url(AddOptions& options) {
  std::string url = std::move(options.keys_and_url.back());
  options.keys_and_url.pop_back();
  if (!is_store_url(url)) {
    throw Error(ErrorKind::Usage,
                "the last argument is the store's URL, " + store_schemes() + ", and not \"" + url + "\"");
  }
  return url;
}

// A key that a list would skip is refused as an argument, because it was typed on purpose.
void check_keys(const AddOptions& options) {
  if (options.keys_and_url.empty() && options.key_path.empty()) {
    throw Error(ErrorKind::Usage, "give keys to add before the store's URL, or --file");
  }
  for (const std::string& key : options.keys_and_url) {
    if (key.empty() && !options.format.nul_separated) {
      throw Error(ErrorKind::Usage, "a key is empty; that is a key only with -0, as in build");
    }
  }
}

// Reads the whole list before anything is added: a list that turns out to be wrong adds nothing.
std::vector<std::string> all_keys(AddOptions& options) {
  std::vector<std::string> keys = std::move(options.keys_and_url);
  if (options.key_path.empty()) return keys;
  ProgressLine progress("reading " + key_source(options.key_path));
  const KeysRead read = read_keys(options.key_path, options.format, [&](std::string_view key) {
    keys.emplace_back(key);
    progress.show_keys(keys.size());
  });
  check_suspect_keys(options.key_path, read, options.allow_suspect_keys);
  return keys;
}

void append_all(const std::vector<std::string>& keys, AddsWriter& writer) {
  ProgressLine progress("adding");
  for (const std::string& key : keys) {
    writer.add(key);
    progress.show_keys(writer.appended());
  }
  writer.finish();
}

void add(AddOptions& options) {
  const std::string url = take_url(options);
  check_keys(options);
  checked_set_name(options.set_name);  // before a store is touched under that name
  // Does not create a store: keys that are added to a mistyped path would never be seen.
  const auto store = open_given_store(url, StoreUse::Append);
  // No loader would ever see what is added under a mistyped name: lookups would answer absent.
  if (!options.allow_unknown_set) check_not_mistyped(*store, options.directory, options.set_name);
  AddsWriter writer(*store, options.set_name);
  append_all(all_keys(options), writer);
  if (is_known_missing(*store, options.set_name)) {
    print_warning(store->name() + ": there is no set \"" + options.set_name +
                  "\" yet; what is added waits for its next push");
  }
  const auto& last = writer.last_position();
  Report report;
  report.add("set", options.set_name, "set", options.set_name);
  report.add("store", store->name(), "store", store->name());
  report.add("appended", format_count(writer.appended()), "appended", writer.appended());
  report.add("last position", last ? to_text(*last) : "none", "last_position",
             last ? Json(to_text(*last)) : Json());
  report.print();
}

}  // namespace

void add_add(CLI::App& program, VerbResult& /*result*/) {
  auto options = std::make_shared<AddOptions>();
  CLI::App* verb = add_verb(
      program, "add", "Add keys to a set between two builds",
      "  keysieve add tags 猫 lmdb:/var/lib/keysieve\n"
      "  keysieve add tags 猫 犬 redis://cache:6379/2 --json\n"
      "  keysieve add tags --file new.txt redis+unix:///run/redis/redis.sock\n"
      "Add, then commit: add the key before the transaction that inserts its row commits, or\n"
      "lookups answer absent for a moment although the row is there. One add too many only costs a maybe.");
  verb->add_option("SET", options->set_name, "Name of the set")->required();
  add_keys(verb, options->keys_and_url,
           "Keys to add, then the store: " + store_schemes() + ". After -- a key may be any bytes", "... URL")
      ->required();
  add_text(verb, "--file FILE", options->key_path, "Add the keys of this list too; - reads standard input");
  add_directory(verb, options->directory);
  add_key_format(verb, options->format);
  add_allow_suspect_keys(verb, options->allow_suspect_keys);
  add_allow_unknown_set(verb, options->allow_unknown_set);
  verb->callback([options] { add(*options); });
}

}  // namespace keysieve
