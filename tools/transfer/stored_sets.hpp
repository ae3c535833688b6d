// The sets of a store by their pointer records. Used by the verb list, and to suggest a name for a mistyped
// one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/worker/base/error.hpp"
#include "tools/stores/store.hpp"
#include "tools/transfer/pointer_record.hpp"

namespace keysieve {

struct StoredSet {
  std::string name;
  PointerRecord pointer{};         // whose `current` is set, unless there is a failure
  std::optional<Error> failure{};  // why the record cannot be used
};

// Returns the sets that have a current generation, or a record that cannot be used, by name. Reads the names
// of all records in the store. Throws as Store::keys_with_prefix() does.
std::vector<StoredSet> stored_sets(Store& store);

}  // namespace keysieve
