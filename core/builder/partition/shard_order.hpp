// Hashes in shard order: ranges of them, and sorting. Used by partitions; live layers and `keysieve verify`
// use it to sort their few keys too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/worker/hash/key_hash.hpp"

namespace keysieve {

// Both ends belong to the range, so that the last hash of all needs no special case.
struct HashRange {
  KeyHash first{0};
  KeyHash last{UINT64_MAX};

  [[nodiscard]] bool contains(KeyHash hash) const noexcept { return first <= hash && hash <= last; }
  friend bool operator==(const HashRange&, const HashRange&) = default;
};

// All hashes of the shards from `begin` to before `end`; begin < end <= shard_count.
inline HashRange range_of_shards(std::uint32_t begin, std::uint32_t end, std::uint32_t shard_count) noexcept {
  // The smallest hash for which shard_of() returns `shard`.
  const auto first_of = [shard_count](std::uint32_t shard) {
    return static_cast<std::uint64_t>(((static_cast<Uint128>(shard) << 64) + shard_count - 1) / shard_count);
  };
  return {{first_of(begin)}, {end < shard_count ? first_of(end) - 1 : UINT64_MAX}};
}

// Sorts `hashes`, all inside `range`, and keeps each once. Sorts by counting: hashes are evenly spread, so
// each one is close to its final place at once; if they are not, it only takes longer. The result is at the
// front of `hashes` or of `scratch`, which has as much room; the contents of the other are lost. `counts` is
// scratch too, of at most 8 bytes per hash.
std::span<KeyHash> sort_distinct(std::span<KeyHash> hashes, const HashRange& range, KeyHash* scratch,
                                 std::vector<std::uint32_t>& counts);

// Sorts a short list and keeps each hash once, by comparing.
inline void sort_and_dedupe(std::vector<KeyHash>& hashes) {
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

}  // namespace keysieve
