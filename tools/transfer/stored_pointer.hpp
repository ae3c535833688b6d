// Reads and changes the pointer record in a store. Used by push, pull, rollback, delete and bypass.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/worker/snapshot/snapshot.hpp"
#include "tools/records/pointer_record.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

std::string pointer_key(const Store& store, const std::string& set_name);

// Returns nothing for a set without a record. Throws Data, Incompatible, and as the store does.
std::optional<PointerRecord> read_stored_pointer(Store& store, const std::string& set_name);

// Changes the record; returns false if there is nothing (more) to change. It is called again after a lost
// race, with the winner's record, and after a lost answer, possibly with its own result. So it must notice
// when its change is done.
using PointerChange = std::function<bool(PointerRecord& pointer)>;

// Changes the record by compare-and-set, from an empty one if there is none, and returns the result. Throws
// Locked after too many lost races, as the store does, and as `change` does. After Unavailable the change
// may be done; after any other error nothing has changed.
PointerRecord change_pointer(Store& store, const std::string& set_name, const PointerChange& change);

// Changes the record so that this push's snapshot becomes current. Also throws Unconfirmed, which names the
// current generation, if the store does not confirm it (replicas miss it).
PointerRecord move_current(Store& store, const std::string& set_name, const PushId& push_id,
                           const PointerChange& change);

// Trims the adds log as far as `pointer` says. Throws as the store does.
void trim_adds(Store& store, const std::string& set_name, const PointerRecord& pointer);

}  // namespace keysieve
