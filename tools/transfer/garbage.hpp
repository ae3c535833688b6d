// Removes the chunks of pushes that a pointer record lists as garbage. Used by push and gc.
#pragma once

#include <string>
#include <vector>

#include "tools/stores/store.hpp"
#include "tools/transfer/pointer_record.hpp"

namespace keysieve {

// Throws as the store does.
void remove_chunks(Store& store, const std::string& set_name, const Garbage& push);

// Removes the garbage that `pointer` lists, then strikes it off the record in the store. What cannot be done
// now is done by whoever comes next: it is added to `warnings`.
void remove_garbage(Store& store, const std::string& set_name, const PointerRecord& pointer,
                    std::vector<std::string>& warnings);

}  // namespace keysieve
