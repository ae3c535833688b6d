// The sets of a store by their pointer records, and its seen sets by their logs. Used by the loader, for
// seen sets, and by the verbs, also to suggest a name for a mistyped one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/worker/base/error.hpp"
#include "tools/records/pointer_record.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

struct StoredSet {
  std::string name;
  PointerRecord pointer{};         // whose `current` is set, unless there is a failure
  std::optional<Error> failure{};  // why the record cannot be used
};

// One record is at fault; the others can be read.
bool is_about_a_record(const Error& error) noexcept;

// Returns the sets that have a current generation, or a record that cannot be used, by name. Reads the names
// of all records in the store. Throws as Store::keys_with_prefix() does, and when the store does not answer.
std::vector<StoredSet> stored_sets(Store& store);

// The name of the log of a seen set, whose entries are those of tools/loader/seen/seen_log.hpp:
// <prefix>:seen.d:<set>:log
std::string seen_log(const Store& store, const std::string& set_name);

// Whether any host has saved a seen set of that name in the store, and it was not deleted since. False for a
// store without logs. Throws as Store::read_after().
bool holds_seen_set(Store& store, const std::string& set_name);

// Removes all entries of its log. The log itself stays, empty, so that its positions go on rising: a host
// that still has the set misses nothing that is sent later. Throws as Store::trim().
void delete_seen_set(Store& store, const std::string& set_name);

}  // namespace keysieve
