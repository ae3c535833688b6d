// Options that several verbs share, each written once: name, unit, range and help text are the same
// everywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/builder/filters/filter_kind.hpp"
#include "core/worker/base/clock.hpp"
#include "tools/keys/key_file.hpp"
#include "tools/signatures/public_keys.hpp"
#include "tools/signatures/signing_key.hpp"
#include "tools/stores/store.hpp"
#include "tools/transfer/guards.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
class Option;
}  // namespace CLI

namespace keysieve {

// The description of the option or argument that is a store's URL.
inline std::string store_help() {
  return "Store: " + store_schemes();
}

// Opens a store by its URL on the command line, where lmdb: and dir: may have a path relative to the working
// directory. Throws Usage, before it connects, for a store that cannot be used like that.
std::unique_ptr<Store> open_given_store(const std::string& url, StoreUse use,
                                        IfMissing if_missing = IfMissing::Refuse);

// An option of one value, "--fpr FPR" with the word that stands for the value in the help. Its text goes to
// `take`; a Usage error of `take` is thrown on with the option's name in front.
CLI::Option* add_text(CLI::App* verb, const std::string& option,
                      const std::function<void(const std::string& text)>& take, const std::string& help);
// The same for text that needs no parsing.
CLI::Option* add_text(CLI::App* verb, const std::string& option, std::string& text, const std::string& help);

// An option whose text one of the parsers of tools/program/units.hpp turns into a value; a wrong text is a
// usage error that names the option.
template <typename Value, typename Parse>
CLI::Option* add_parsed(CLI::App* verb, const std::string& option, Value& value, Parse parse,
                        const std::string& help) {
  return add_text(
      verb, option, [&value, parse](const std::string& text) { value = parse(text); }, help);
}

// 1KiB, 2KiB, 4KiB or 8KiB; Usage otherwise.
std::uint32_t parse_shard_bytes(const std::string& text);

// Two required arguments, NAME (SET or FILE) and then the store's URL.
void add_argument_and_url(CLI::App* verb, const std::string& name, std::string& argument,
                          const std::string& help, std::string& url);

// --fpr and --growth, of a set that is planned or built.
void add_fpr_and_growth(CLI::App* verb, double& target_fpr, double& growth);

// Arguments that may be any bytes; `rest` stands for those behind the first in the help.
CLI::Option* add_keys(CLI::App* verb, std::vector<std::string>& keys, const std::string& help,
                      const std::string& rest);

// --directory, KEYSIEVE_DIRECTORY, /run/keysieve.
void add_directory(CLI::App* verb, std::string& directory);
// -0 and --allow-cr.
void add_key_format(CLI::App* verb, KeyFileFormat& format);

// --allow-suspect-keys, for verbs that put a list of keys into a set, and what it allows. Throws Data if the
// list is probably wrong; prints a warning for less.
void add_allow_suspect_keys(CLI::App* verb, bool& allow);
void check_suspect_keys(const std::string& key_path, const KeysRead& read, bool allow);
// --as-of, which cannot be in the future.
void add_as_of(CLI::App* verb, std::optional<UnixSeconds>& as_of, const std::string& help);

// --public-key, which may be repeated.
void add_public_keys(CLI::App* verb, PublicKeys& keys);
// --sign-key; reads the file when the option is parsed. nullptr without the option.
void add_sign_key(CLI::App* verb, std::shared_ptr<const SigningKey>& key);

// The keys that a verb works on: a list of them, or for a map one of keys with their values.
struct KeyList {
  std::string option;  // that names the list of keys
  std::string key_path;
  std::string values_path;
  unsigned value_column = 2;
  KeyFileFormat format;

  [[nodiscard]] bool is_map() const noexcept { return !values_path.empty(); }
  [[nodiscard]] const std::string& path() const noexcept { return is_map() ? values_path : key_path; }
  [[nodiscard]] std::string source() const { return key_source(path()); }
};
// The option that names the list of keys, then --values, --value-column, -0 and --allow-cr.
void add_key_list(CLI::App* verb, const std::string& option, const std::string& help, KeyList& keys);
// Throws Usage unless one of both lists is given, and if more than one of it and of the others is standard
// input.
void check_lists(const KeyList& keys, std::vector<std::string> others);

struct GuardOptions {
  Guards limits;
  std::string required_keys_path;

  // Reads the file of required keys.
  [[nodiscard]] Guards guards(const KeyFileFormat& format) const;
};
void add_guards(CLI::App* verb, GuardOptions& options);

}  // namespace keysieve
