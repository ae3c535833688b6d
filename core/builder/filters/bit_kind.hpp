// Builders of the Bloom family: bits are set one key at a time, in any order. A policy sets the bits of a key
// and says what they are worth.
#pragma once

#include "core/builder/filters/bits.hpp"
#include "core/builder/filters/expectation.hpp"
#include "core/builder/filters/kind_of.hpp"
#include "core/worker/filters/bit_kind.hpp"
#include "core/worker/filters/blocks.hpp"

namespace keysieve {

template <typename Policy>
struct BitBuilder : Policy {
  static void build(MutableBytes shard, ShardEntry& entry, const FilterParams& params,
                    std::span<const KeyHash> keys) {
    for (const KeyHash& key : keys) Policy::add(shard.data(), params, remix(key));
    entry.key_count = static_cast<std::uint16_t>(keys.size());
  }

  static double estimated_fpr(Bytes shard, const ShardEntry& /*entry*/, const FilterParams& params) {
    return Policy::estimated_fpr(shard, params);
  }
};

// For kinds whose keys set k bits anywhere in the shard; `Bits` is made of ScatteredBits.
template <typename Bits>
struct ScatteredBitsBuilder : Bits {
  static void add(std::byte* shard, const FilterParams& params, std::uint64_t mixed) noexcept {
    typename Bits::Positions positions(params, mixed);
    for (int i = 0; i < params.hash_count; ++i) set_bit(shard, positions.next());
  }

  static std::uint32_t cache_lines(const FilterParams& params, double /*keys_per_shard*/) noexcept {
    return params.hash_count;
  }
};

// For kinds whose keys set all their bits in one block of the shard.
template <typename Bits>
struct BlockBuilder : Bits {
  static std::byte* block_of(std::byte* shard, const FilterParams& params, std::uint64_t mixed) noexcept {
    return shard + Bits::block_offset(64 - std::countr_zero(params.shard_bytes), mixed);
  }

  static std::uint32_t cache_lines(const FilterParams& /*params*/, double /*keys_per_shard*/) noexcept {
    return 1;
  }
};

}  // namespace keysieve
