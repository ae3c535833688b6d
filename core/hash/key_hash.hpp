// The one hash of a key: computed once per key and seed, shared by every set, layer and kind that looks at
// the key. Source: XXH3 128-bit of xxHash 0.8, whose output is fixed across versions and machines.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <string_view>

namespace keysieve {

struct KeyHash {
  std::uint64_t low = 0;   // the filter inside the shard uses this half
  std::uint64_t high = 0;  // the shard is chosen by this half

  friend bool operator==(const KeyHash&, const KeyHash&) = default;
};

// Orders by shard first: for every shard count, shard_of() never falls as `high` rises.
inline bool in_shard_order(const KeyHash& a, const KeyHash& b) noexcept {
  return a.high != b.high ? a.high < b.high : a.low < b.low;
}

// Any bytes, any length. No allocation, no failure; cost grows with the length alone.
inline KeyHash hash_key(std::string_view key, std::uint64_t seed) noexcept {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(key.data(), key.size(), seed);
  return {hash.low64, hash.high64};
}

// Source: Lemire, "Fast random integer generation in an interval" (2019): multiply and shift instead of
// modulo. Less than `shard_count`.
inline std::uint64_t shard_of(const KeyHash& hash, std::uint64_t shard_count) noexcept {
  __extension__ using Uint128 = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Uint128>(hash.high) * shard_count) >> 64);
}

}  // namespace keysieve
