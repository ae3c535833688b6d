// Lookups of the Bloom family: the shard's entry holds nothing but the key count. A policy says which bits
// belong to a key; policies are made of ScatteredBits and Blocks (blocks.hpp).
#pragma once

#include "core/worker/filters/bits.hpp"
#include "core/worker/filters/kind_of.hpp"
#include "core/worker/hash/key_hash.hpp"

namespace keysieve {

template <typename Policy>
struct BitKind : Policy {
  static std::span<const std::uint8_t> hash_counts() noexcept { return Policy::kHashCountChoice; }

  static const char* fault_of(const FilterParams& /*params*/, const ShardEntry& entry) noexcept {
    const bool plain = entry.seed == 0 && entry.width == 0 && entry.block_count == 0 && entry.shape == 0;
    return plain ? nullptr : "its kind has no seed, width, block count or shape";
  }

  static double fill_ratio(Bytes shard, const ShardEntry& /*entry*/, const FilterParams& /*params*/) {
    return keysieve::fill_ratio(shard);
  }

  static Lookup lookup(const FilterParams& params, InstructionSet instructions) noexcept {
#if KEYSIEVE_X86_64
    if constexpr (requires { typename Policy::Avx2; }) {
      if (instructions == InstructionSet::Avx2) {
        return lookup_of<Avx2Functions, typename Policy::template Probe<typename Policy::Avx2>>(params);
      }
    }
#endif
    if constexpr (requires { typename Policy::Neon; }) {
      if (instructions == InstructionSet::Neon) {
        return lookup_of<BaselineFunctions, typename Policy::template Probe<typename Policy::Neon>>(params);
      }
    }
    static_cast<void>(instructions);
    return lookup_of<BaselineFunctions, typename Policy::template Probe<Policy>>(params);
  }
};

// Prepares the lookup of a key whose bits may be anywhere in the shard: holds its hash inside the
// shard and the shard's address, and has read nothing from it.
template <typename Policy>
struct ShardProbe {
  const std::byte* shard;
  std::uint64_t mixed;

  [[gnu::always_inline]] inline void prepare(const ShardArray& array, KeyHash hash) noexcept {
    mixed = remix(hash);
    shard = array.shard(array.index_of(hash));
  }
  [[gnu::always_inline]] inline void prefetch(const ShardArray& array, KeyHash /*hash*/) const noexcept {
    Policy::prefetch(shard, array.params, mixed);
  }
  [[nodiscard, gnu::always_inline]] inline bool may_contain(const ShardArray& array,
                                                            KeyHash /*hash*/) const noexcept {
    return Policy::may_contain(shard, array.params, mixed);
  }
};

// What kinds whose keys set k bits anywhere in the shard have in common: a class of positions gives the bits,
// one by one.
template <typename PositionsOfKey>
struct ScatteredBits {
  // 30 is the best k for 1e-9; partitions of whole bytes may want one more.
  static constexpr auto& kHashCountChoice = kHashCountsFrom<1, 32>;

  using Positions = PositionsOfKey;
  template <typename Policy>
  using Probe = ShardProbe<Policy>;

  static bool may_contain(const std::byte* shard, const FilterParams& params, std::uint64_t mixed) noexcept {
    Positions positions(params, mixed);
    for (int i = 0; i < params.hash_count; ++i) {
      if (!test_bit(shard, positions.next())) return false;
    }
    return true;
  }

  [[gnu::always_inline]] static void prefetch(const std::byte* shard, const FilterParams& params,
                                              std::uint64_t mixed) noexcept {
    Positions positions(params, mixed);
    for (int i = 0; i < params.hash_count; ++i) __builtin_prefetch(shard + positions.next() / 8);
  }
};

}  // namespace keysieve
