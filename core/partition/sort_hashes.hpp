// Sorts hashes into shard order, by counting: hashes are evenly spread, so that each falls close to its place
// at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/partition/hash_range.hpp"

namespace keysieve {

// Sorts `hashes`, all inside `range`, and keeps each once. The result lies at the front of `hashes` or of
// `scratch`, which has as much room; the other holds nothing any more. `counts` is scratch too, of at most 8
// bytes per hash. Hashes that are not evenly spread only take longer.
std::span<KeyHash> sort_distinct(std::span<KeyHash> hashes, const HashRange& range, KeyHash* scratch,
                                 std::vector<std::uint32_t>& counts);

}  // namespace keysieve
