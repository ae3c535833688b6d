// The bypass of all hosts that follow a store: record <prefix>:<set>:bypass for one set, and
// <prefix>:bypass for all its sets. `keysieve bypass --store` sets it, and every loader applies it to its
// host's control pages.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>

#include "core/worker/base/clock.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

struct StoreBypass {
  UnixSeconds until = 0;   // 0: until it is cleared
  UnixSeconds set_at = 0;  // 0: not known

  friend bool operator==(const StoreBypass&, const StoreBypass&) = default;
};

// Set and clear the bypass of one set, or of all sets of the store if there is no name. Setting replaces an
// existing one. Both throw Usage for a wrong set name, and as the store does.
void set_store_bypass(Store& store, const std::optional<std::string>& set_name, const StoreBypass& bypass);
void clear_store_bypass(Store& store, const std::optional<std::string>& set_name);

struct StoreBypasses {
  std::optional<StoreBypass> of_set;
  std::optional<StoreBypass> of_all;
};

// Reads both in one call of the store. A record that cannot be parsed counts as a bypass without end: an
// operator who wrote it by hand at 3 a.m. meant it.
StoreBypasses read_store_bypasses(Store& store, const std::string& set_name);
// For callers that read them together with other records: texts[i] belongs to keys[i].
std::array<std::string, 2> store_bypass_keys(const Store& store, const std::string& set_name);
StoreBypasses decode_store_bypasses(std::span<const std::optional<std::string>, 2> texts);
std::optional<StoreBypass> decode_store_bypass(const std::optional<std::string>& text);
// Reads only the bypass of all sets.
std::optional<StoreBypass> read_bypass_of_all(Store& store);

// Returns when the bypass that is in force at `now` ends: 0 if it has no end, nothing if none is in force.
// If both are, the later end counts.
std::optional<UnixSeconds> bypassed_until(const StoreBypasses& bypasses, UnixSeconds now) noexcept;

}  // namespace keysieve
