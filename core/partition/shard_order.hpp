// Hashes in shard order: ranges of them, and sorting. Used by partitions; updates and live layers sort their
// few keys by it too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/hash/key_hash.hpp"

namespace keysieve {

inline constexpr std::uint64_t kMostHash = UINT64_MAX;

// Both ends belong to the range, so that the last hash there is needs no case of its own.
struct HashRange {
  KeyHash first{0, 0};
  KeyHash last{kMostHash, kMostHash};

  [[nodiscard]] bool contains(const KeyHash& hash) const noexcept {
    return !in_shard_order(hash, first) && !in_shard_order(last, hash);
  }
  friend bool operator==(const HashRange&, const HashRange&) = default;
};

// The next one in shard order; `hash` is not the last there is.
inline KeyHash hash_after(const KeyHash& hash) noexcept {
  return {hash.low + 1, hash.high + (hash.low == kMostHash ? 1 : 0)};
}

// All hashes of the shards from `begin` to before `end`; begin < end <= shard_count.
inline HashRange range_of_shards(std::uint32_t begin, std::uint32_t end, std::uint32_t shard_count) noexcept {
  // The smallest `high` of which shard_of() says `shard`.
  const auto first_high = [shard_count](std::uint32_t shard) {
    return static_cast<std::uint64_t>(((static_cast<Uint128>(shard) << 64) + shard_count - 1) / shard_count);
  };
  HashRange range{{0, first_high(begin)}, {kMostHash, kMostHash}};
  if (end < shard_count) range.last.high = first_high(end) - 1;
  return range;
}

// Sorts `hashes`, all inside `range`, and keeps each once. By counting: hashes are evenly spread, so that
// each falls close to its place at once. The result lies at the front of `hashes` or of `scratch`, which has
// as much room; the other holds nothing any more. `counts` is scratch too, of at most 8 bytes per hash.
// Hashes that are not evenly spread only take longer.
std::span<KeyHash> sort_distinct(std::span<KeyHash> hashes, const HashRange& range, KeyHash* scratch,
                                 std::vector<std::uint32_t>& counts);

// The same for a short list, by comparing.
inline void sort_and_dedupe(std::vector<KeyHash>& hashes) {
  std::sort(hashes.begin(), hashes.end(), in_shard_order);
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

}  // namespace keysieve
