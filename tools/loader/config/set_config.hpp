// [[set]] in the configuration: a set, or a pattern for the names of many.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/signatures/public_keys.hpp"
#include "tools/stores/store.hpp"
#include "tools/transfer/guards.hpp"

namespace keysieve {

struct SetConfig {
  std::string name;
  std::string store;            // name of one of LoaderConfig::stores
  bool is_found = false;        // by a pattern; the configuration does not name it
  std::uint64_t max_bytes = 0;  // of a snapshot; 0: no limit
  PublicKeys public_keys;
  Guards guards;
};

// "shop-*": all sets that the store holds under such names, with the same settings.
struct SetPattern {
  static constexpr std::size_t kDefaultMaxSets = 10'000;
  static constexpr std::size_t kLargestMaxSets = 100'000;

  SetConfig each;  // its name is the pattern
  std::size_t max_sets = kDefaultMaxSets;

  [[nodiscard]] KeyPattern names() const;
  [[nodiscard]] bool matches(std::string_view set_name) const { return names().matches(set_name); }
  [[nodiscard]] SetConfig config_of(const std::string& set_name) const;
};

// One "*", which stands for any characters or none.
inline bool is_set_pattern(std::string_view name) noexcept {
  return name.find('*') != std::string_view::npos;
}

// Returns the name of a set, or the pattern; throws Usage that says what is allowed.
std::string checked_set_name_or_pattern(const std::string& text);
// Of "10000", "10k".
std::size_t checked_max_sets(const std::string& text);

}  // namespace keysieve
