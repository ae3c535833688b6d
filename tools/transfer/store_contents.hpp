// Lists the contents of a store by the names of its records. Used by gc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/stores/store.hpp"
#include "tools/transfer/chunk.hpp"

namespace keysieve {

// The numbers of the chunks of each push, rising.
using ListedChunks = std::map<PushId, std::vector<std::uint32_t>>;

struct StoreContents {
  std::map<std::string, ListedChunks> sets;  // those with any record, by name
  std::uint64_t foreign_records = 0;         // under the store's prefix, but of no name that keysieve gives
};

// Throws as Store::keys_with_prefix() does.
StoreContents contents_of(Store& store);

}  // namespace keysieve
