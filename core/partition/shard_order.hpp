// Hashes in shard order: ranges of them, and sorting. Used by partitions; updates and live layers use it to
// sort their few keys too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/hash/key_hash.hpp"

namespace keysieve {

inline constexpr std::uint64_t kMostHash = UINT64_MAX;

// Both ends belong to the range, so that the last hash of all needs no special case.
struct HashRange {
  KeyHash first{0, 0};
  KeyHash last{kMostHash, kMostHash};

  [[nodiscard]] bool contains(const KeyHash& hash) const noexcept {
    return !in_shard_order(hash, first) && !in_shard_order(last, hash);
  }
  friend bool operator==(const HashRange&, const HashRange&) = default;
};

// The next hash in shard order; `hash` is not the last one.
inline KeyHash hash_after(const KeyHash& hash) noexcept {
  return {hash.low + 1, hash.high + (hash.low == kMostHash ? 1 : 0)};
}

// All hashes of the shards from `begin` to before `end`; begin < end <= shard_count.
inline HashRange range_of_shards(std::uint32_t begin, std::uint32_t end, std::uint32_t shard_count) noexcept {
  // The smallest `high` for which shard_of() returns `shard`.
  const auto first_high = [shard_count](std::uint32_t shard) {
    return static_cast<std::uint64_t>(((static_cast<Uint128>(shard) << 64) + shard_count - 1) / shard_count);
  };
  HashRange range{{0, first_high(begin)}, {kMostHash, kMostHash}};
  if (end < shard_count) range.last.high = first_high(end) - 1;
  return range;
}

// Sorts `hashes`, all inside `range`, and keeps each once. Sorts by counting: hashes are evenly spread, so
// each one is close to its final place at once; if they are not, it only takes longer. The result is at the
// front of `hashes` or of `scratch`, which has as much room; the contents of the other are lost. `counts` is
// scratch too, of at most 8 bytes per hash.
std::span<KeyHash> sort_distinct(std::span<KeyHash> hashes, const HashRange& range, KeyHash* scratch,
                                 std::vector<std::uint32_t>& counts);

// The same for a short list, by comparing.
inline void sort_and_dedupe(std::vector<KeyHash>& hashes) {
  std::sort(hashes.begin(), hashes.end(), in_shard_order);
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

}  // namespace keysieve
