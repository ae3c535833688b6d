// Removes what a pointer record says is needed no more. Used by push and gc.
#pragma once

#include <string>

#include "tools/stores/store.hpp"
#include "tools/transfer/pointer_record.hpp"

namespace keysieve {

// Removes the chunks that `pointer` lists as garbage, then strikes them off the record in the store. May be
// repeated, and done by several at once. Throws as change_pointer() and the store do; the rest is left to
// whoever comes next.
void remove_garbage(Store& store, const std::string& set_name, const PointerRecord& pointer);

// Trims the adds log as far as `pointer` says. Throws as the store does.
void trim_adds(Store& store, const std::string& set_name, const PointerRecord& pointer);

}  // namespace keysieve
