// Lookups of the Bloom family: a key has bits in one block of its shard, and is absent if one of them is not
// set. A policy says which bits; the shard's entry holds nothing but the key count.
#pragma once

#include "core/worker/filters/bits.hpp"
#include "core/worker/filters/blocks.hpp"
#include "core/worker/filters/lookup_of.hpp"

namespace keysieve {

// Begins to load what check() reads of a shard. Must be always_inline, as KeyProbe says.
using PrefetchOfBits = void(const std::byte* shard, const FilterParams&, std::uint64_t mixed) noexcept;
template <typename Policy>
concept PrefetchesBits = IsFunction<decltype(Policy::prefetch), PrefetchOfBits>;

// `mixed` is the hash of a key inside its shard. Blocks or ScatteredBits give all but check(). A policy may
// also have a struct Avx2 or Neon, the same policy with faster instructions.
template <typename Policy>
concept BitPolicy = requires {
  // Size of the block that has a key's bits, which is in one cache line; 0: it is the whole shard.
  { Policy::kBlockBytes } -> std::convertible_to<std::uint32_t>;
  // Its offset in the shard.
  { Policy::block_offset } -> IsFunction<std::uint64_t(int offset_shift, std::uint64_t mixed) noexcept>;
  requires Policy::kBlockBytes != 0 || PrefetchesBits<Policy>;
  // Whether all bits of the key are set in its block. The builder's mark() sets them.
  { Policy::check } -> IsFunction<bool(const std::byte* block, const FilterParams&, std::uint64_t) noexcept>;
};

// Holds a key's hash inside the shard and the address of its block, and has read nothing from it.
template <BitPolicy Policy>
struct BitProbe {
  static constexpr bool kReadsEntry = false;

  const std::byte* block;
  std::uint64_t mixed;

  [[gnu::always_inline]] inline void prepare(const ShardArray& array, KeyHash hash) noexcept {
    mixed = remix(hash);
    block = array.shard(array.index_of(hash)) + Policy::block_offset(array.offset_shift, mixed);
  }
  [[gnu::always_inline]] inline void prefetch(const ShardArray& array, KeyHash /*hash*/) const noexcept {
    if constexpr (Policy::kBlockBytes == 0) {
      Policy::prefetch(block, array.params, mixed);
    } else {
      __builtin_prefetch(block);
    }
  }
  [[nodiscard, gnu::always_inline]] inline bool may_contain(const ShardArray& array,
                                                            KeyHash /*hash*/) const noexcept {
    return Policy::check(block, array.params, mixed);
  }
};

template <BitPolicy Policy>
struct BitKind : Policy {
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
      if (instructions == InstructionSet::Avx2)
        return lookup_of<Avx2Code, BitProbe<typename Policy::Avx2>>(params);
    }
#endif
    if constexpr (requires { typename Policy::Neon; }) {
      if (instructions == InstructionSet::Neon)
        return lookup_of<BaselineCode, BitProbe<typename Policy::Neon>>(params);
    }
    static_cast<void>(instructions);
    return lookup_of<BaselineCode, BitProbe<Policy>>(params);
  }
};

// For kinds whose keys set k bits anywhere in the shard, which is their block: a class of positions gives the
// bits, one by one.
template <typename PositionsOfKey>
struct ScatteredBits {
  static constexpr std::uint32_t kBlockBytes = 0;
  // 30 is the best k for 1e-9; partitions of whole bytes may want one more.
  static constexpr auto& kHashCounts = kCounts<1, 32>;

  using Positions = PositionsOfKey;

  static constexpr std::uint64_t block_offset(int /*offset_shift*/, std::uint64_t /*mixed*/) noexcept {
    return 0;
  }

  static bool check(const std::byte* shard, const FilterParams& params, std::uint64_t mixed) noexcept {
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
