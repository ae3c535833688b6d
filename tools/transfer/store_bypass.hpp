// The bypass of all hosts that follow a store. A set has its own in its pointer record; all sets have one in
// the record <prefix>:bypass. `keysieve bypass --store` sets it, and every loader applies it to its host's
// control pages.
#pragma once

#include <optional>
#include <string>

#include "tools/records/pointer_record.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

struct StoreBypasses {
  StoreBypass of_set{};
  StoreBypass of_all{};
};

// Sets or clears the bypass of one set, in a record that it makes if there is none, or of all sets of the
// store if there is no name. Throws Usage for a
// wrong set name, as change_pointer(), and as the store does.
void set_store_bypass(Store& store, const std::optional<std::string>& set_name, const StoreBypass& until);

// Without a name only that of all sets. Throws as read_stored_pointer().
StoreBypasses read_store_bypasses(Store& store, const std::optional<std::string>& set_name);

// For callers that read the record of all sets together with others. One that cannot be parsed counts as a
// bypass without end: an operator who wrote it by hand at 3 a.m. meant it.
std::string key_of_bypass_of_all(const Store& store);
StoreBypass decode_bypass_of_all(const std::optional<std::string>& text);

bool is_in_force(const StoreBypass& until, UnixSeconds now) noexcept;
// Returns when the bypass that is in force at `now` ends. If both are, the later end counts.
StoreBypass bypassed_until(const StoreBypasses& bypasses, UnixSeconds now) noexcept;

}  // namespace keysieve
