// Removes what pushes have left in a store and no longer need. Used by push and delete.
#pragma once

#include <string>

#include "tools/stores/store.hpp"
#include "tools/transfer/pointer_record.hpp"

namespace keysieve {

// Removes the chunks that `pointer` lists as garbage, then drops them from the record in the store. May be
// repeated, and called by several processes at once. Throws as change_pointer() and the store do; the next
// call then removes the rest.
void remove_garbage(Store& store, const std::string& set_name, const PointerRecord& pointer);

// Trims the adds log as far as `pointer` says. Throws as the store does.
void trim_adds(Store& store, const std::string& set_name, const PointerRecord& pointer);

}  // namespace keysieve
