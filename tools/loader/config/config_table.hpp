// One TOML table of a configuration file, read strictly: every wrong value, missing key and unknown key is
// a Config error that names file, line and key.
#pragma once

#include <toml++/toml.h>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/worker/base/error.hpp"

namespace keysieve {

class ConfigTable {
 public:
  // `title` is how the table is called in messages, "[store.main]"; empty for the top of a file. The table
  // must outlive this.
  ConfigTable(const toml::table& table, std::string file, std::string title = "")
      : table_(&table), file_(std::move(file)), title_(std::move(title)) {}

  // A string, or a number as text; nothing when the key is not there.
  std::optional<std::string> text(std::string_view key);

  // What `parse` returns for a string or number, given as text; nothing when the key is not there. An error
  // that it throws becomes a Config error.
  template <typename Parse>
  auto parsed(std::string_view key, const Parse& parse) {
    const std::optional<std::string> value = text(key);
    return value ? std::optional(checked(key, *value, parse)) : std::nullopt;
  }
  // For a string, or for each string of an array, which must not be empty; none when the key is not there.
  template <typename Parse>
  auto parsed_list(std::string_view key, const Parse& parse) {
    std::vector<std::invoke_result_t<Parse, std::string>> values;
    for (const std::string& text : texts(key)) values.push_back(checked(key, text, parse));
    return values;
  }
  template <typename Parse>
  auto required(std::string_view key, const Parse& parse) {
    if (!table_->contains(key)) fail(key, "is missing");
    return *parsed(key, parse);
  }

  // Tables below this one: [key], and each [[key]].
  std::optional<ConfigTable> table(std::string_view key);
  std::vector<ConfigTable> tables(std::string_view key);
  // The keys of this table.
  [[nodiscard]] std::vector<std::string> names() const;

  // Call when all keys have been asked for.
  void reject_unknown_keys() const;

  // "<file>:<line>"
  [[nodiscard]] std::string place_of(std::string_view key) const;
  [[noreturn]] void fail(std::string_view key, const std::string& reason) const;

 private:
  template <typename Parse>
  auto checked(std::string_view key, const std::string& text, const Parse& parse) const {
    try {
      return parse(text);
    } catch (const Error& error) {
      fail(key, error.what());
    }
  }
  const toml::node* find(std::string_view key);
  std::vector<std::string> texts(std::string_view key);

  const toml::table* table_;
  std::string file_;
  std::string title_;
  std::set<std::string, std::less<>> known_;
};

// A parser of values from `least` to `most`, which throws Usage that quotes any other text. `range`: in
// words.
template <typename Value>
auto in_range(Value (*parse)(std::string_view), std::type_identity_t<Value> least,
              std::type_identity_t<Value> most, std::string range) {
  return [=](const std::string& text) {
    const Value value = parse(text);
    if (value >= least && value <= most) return value;
    throw Error(ErrorKind::Usage, "\"" + text + "\" is out of range: " + range);
  };
}
inline constexpr double kAboveZero = std::numeric_limits<double>::min();
inline constexpr double kBelowOne = 1 - std::numeric_limits<double>::epsilon() / 2;

}  // namespace keysieve
