// keysieve add: keys to the adds log of a set, from where every loader puts them into its live layer.

#include "tools/cli/set_names.hpp"
#include "tools/cli/verb.hpp"
#include "tools/transfer/adds_log.hpp"

namespace keysieve {
namespace {

class AddVerb {
 public:
  void declare(CLI::App* verb) {
    verb->add_option("SET", set_name_, "Name of the set")->required();
    add_keys(verb, keys_and_url_,
             "Keys to add, then the store: " + store_schemes() + ". After -- a key may be any bytes",
             "... URL")
        ->required();
    add_text(verb, "--file FILE", key_path_, "Add the keys of this list too; - reads standard input");
    add_directory(verb, directory_);
    add_key_format(verb, format_);
    add_allow_suspect_keys(verb, allow_suspect_keys_);
    add_allow_unknown_set(verb, allow_unknown_set_);
  }

  int run() {
    const std::string url = take_url();
    check_keys();
    checked_set_name(set_name_);  // before a store is touched under that name
    // Does not create a store: keys that are added to a mistyped path would never be seen.
    const auto store = open_given_store(url, StoreUse::Append);
    // No loader would ever see what is added under a mistyped name: lookups would answer absent.
    if (!allow_unknown_set_) check_not_mistyped(*store, directory_, set_name_);
    const std::vector<std::string> keys = all_keys();
    const LogPosition last = append(*store, keys);
    if (is_known_missing(*store, set_name_)) {
      print_warning(store->name() + ": there is no set \"" + set_name_ +
                    "\" yet; what is added waits for its next push");
    }
    const bool is_any = !keys.empty();
    Report report;
    report.add("set", set_name_);
    report.add("store", store->name());
    report.add("appended", format_count(keys.size()), "appended", keys.size());
    report.add("last position", is_any ? to_text(last) : "none", "last_position",
               is_any ? Json(to_text(last)) : Json());
    report.print();
    return 0;
  }

 private:
  LogPosition append(Store& store, const std::vector<std::string>& keys) const {
    ProgressLine progress("adding");
    return append_adds(store, set_name_, keys, [&](std::uint64_t count) { progress.show_keys(count); });
  }

  std::string take_url() {
    std::string url = std::move(keys_and_url_.back());
    keys_and_url_.pop_back();
    if (!is_store_url(url)) {
      throw Error(ErrorKind::Usage,
                  "the last argument is the store's URL, " + store_schemes() + ", and not \"" + url + "\"");
    }
    return url;
  }

  // A key that a list would skip is refused as an argument, because it was typed on purpose.
  void check_keys() {
    if (keys_and_url_.empty() && key_path_.empty()) {
      throw Error(ErrorKind::Usage, "give keys to add before the store's URL, or --file");
    }
    for (const std::string& key : keys_and_url_) {
      if (key.empty() && !format_.nul_separated) {
        throw Error(ErrorKind::Usage, "a key is empty; that is a key only with -0, as in build");
      }
    }
  }

  // Reads the whole list before anything is added: a list that turns out to be wrong adds nothing.
  std::vector<std::string> all_keys() {
    std::vector<std::string> keys = std::move(keys_and_url_);
    if (key_path_.empty()) return keys;
    ProgressLine progress("reading " + key_source(key_path_));
    const KeysRead read = read_keys(key_path_, format_, [&](std::string_view key) {
      keys.emplace_back(key);
      progress.show_keys(keys.size());
    });
    check_suspect_keys(key_path_, read, allow_suspect_keys_);
    return keys;
  }

  std::string set_name_;
  std::vector<std::string> keys_and_url_;
  std::string key_path_;
  std::string directory_;
  KeyFileFormat format_;
  bool allow_suspect_keys_ = false;
  bool allow_unknown_set_ = false;
};

}  // namespace

extern const Verb kAdd{
    "add", "Add keys to a set between two builds",
    "  keysieve add tags 猫 lmdb:/var/lib/keysieve\n"
    "  keysieve add tags 猫 犬 redis://cache:6379/2 --json\n"
    "  keysieve add tags --file new.txt redis+unix:///run/redis/redis.sock\n"
    "Add, then commit: add the key before the transaction that inserts its row commits, or\n"
    "lookups answer absent for a moment although the row is there. One add too many only costs a maybe.",
    prepare<AddVerb>};

}  // namespace keysieve
