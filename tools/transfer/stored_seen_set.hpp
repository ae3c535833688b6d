// The log of a seen set in a store, as far as its entries do not matter (tools/loader/seen/seen_log.hpp has
// those): its name, whether there is anything in it, and its end. Used by the loader and by the verbs.
#pragma once

#include <string>

#include "tools/stores/store.hpp"

namespace keysieve {

// <prefix>:seen.d:<set>:log
std::string seen_log(const Store& store, const std::string& set_name);

// Whether any host has saved a seen set of that name in the store, and it was not deleted since. False for a
// store without logs. Throws as Store::read_after().
bool holds_seen_set(Store& store, const std::string& set_name);

// Removes all entries of its log. The log itself stays, empty, so that its positions go on rising: a host
// that still has the set misses nothing that is sent later. Throws as Store::trim().
void delete_seen_set(Store& store, const std::string& set_name);

}  // namespace keysieve
