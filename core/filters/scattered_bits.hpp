// What a kind does whose keys set k bits anywhere in the shard: a class of positions says which, one by one.
#pragma once

#include "core/filters/bit_kind.hpp"

namespace keysieve {

// Where one key is looked up: the address of its shard, of which nothing has been read.
template <typename Policy>
struct ShardProbe {
  const std::byte* shard;

  [[gnu::always_inline]] inline void prepare(const ShardArray& array, std::uint64_t index,
                                             KeyHash /*hash*/) noexcept {
    shard = array.shard(index);
  }
  [[gnu::always_inline]] inline void prefetch(const ShardArray& array, KeyHash hash) const noexcept {
    Policy::prefetch(shard, array.params, hash.low);
  }
  [[nodiscard, gnu::always_inline]] inline bool may_contain(const ShardArray& array,
                                                            KeyHash hash) const noexcept {
    return Policy::may_contain(shard, array.params, hash.low);
  }
};

template <typename PositionsOfKey>
struct ScatteredBits {
  using Positions = PositionsOfKey;
  template <typename Policy>
  using Probe = ShardProbe<Policy>;

  static void add(std::byte* shard, const FilterParams& params, std::uint64_t low) noexcept {
    Positions positions(params, low);
    for (int i = 0; i < params.hash_count; ++i) set_bit(shard, positions.next());
  }

  static bool may_contain(const std::byte* shard, const FilterParams& params, std::uint64_t low) noexcept {
    Positions positions(params, low);
    for (int i = 0; i < params.hash_count; ++i) {
      if (!test_bit(shard, positions.next())) return false;
    }
    return true;
  }

  static std::uint32_t cache_lines(const FilterParams& params, double /*keys_per_shard*/) noexcept {
    return params.hash_count;
  }

  [[gnu::always_inline]] static void prefetch(const std::byte* shard, const FilterParams& params,
                                              std::uint64_t low) noexcept {
    Positions positions(params, low);
    for (int i = 0; i < params.hash_count; ++i) __builtin_prefetch(shard + positions.next() / 8);
  }
};

}  // namespace keysieve
