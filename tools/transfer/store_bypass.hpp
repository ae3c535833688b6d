// Bypass for all hosts that follow a store: the records <prefix>:<set>:bypass of one set and <prefix>:bypass
// of all its sets. Set by `keysieve bypass --store`, applied by every loader to its host's control pages.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>

#include "core/base/clock.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

struct StoreBypass {
  UnixSeconds until = 0;   // 0: until it is cleared
  UnixSeconds set_at = 0;  // 0: not known

  friend bool operator==(const StoreBypass&, const StoreBypass&) = default;
};

// No set name: all sets of the store. Replaces one that is there. Both throw Usage for a wrong set name,
// and as the store does. Loaders are to be woken afterwards, see wake_loaders() and
// wake_loaders_of_all().
void set_store_bypass(Store& store, const std::optional<std::string>& set_name, const StoreBypass& bypass);
void clear_store_bypass(Store& store, const std::optional<std::string>& set_name);

struct StoreBypasses {
  std::optional<StoreBypass> of_set;
  std::optional<StoreBypass> of_all;
};

// Both in one call of the store. A record that is not understood is one without end: whoever wrote it by hand
// at 3 a.m. meant it.
StoreBypasses read_store_bypasses(Store& store, const std::string& set_name);
// For who reads them along with other records: texts[i] belongs to keys[i].
std::array<std::string, 2> store_bypass_keys(const Store& store, const std::string& set_name);
StoreBypasses decode_store_bypasses(std::span<const std::optional<std::string>, 2> texts);
std::optional<StoreBypass> decode_store_bypass(const std::optional<std::string>& text);
// That of all sets alone.
std::optional<StoreBypass> read_bypass_of_all(Store& store);

// When what is in force at `now` ends: 0 for without end, nothing when nothing is in force. Of two the later
// end counts.
std::optional<UnixSeconds> bypassed_until(const StoreBypasses& bypasses, UnixSeconds now) noexcept;

}  // namespace keysieve
