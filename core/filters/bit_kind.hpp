// The kinds of the Bloom family: bits that are set one key at a time, in any order, and nothing in the
// shard's entry but the key count. A policy says which bits are a key's and what they are worth.
#pragma once

#include "core/filters/bits.hpp"
#include "core/filters/expectation.hpp"
#include "core/filters/kind_of.hpp"
#include "core/hash/remix.hpp"

namespace keysieve {

// 20 is the best k for 1e-6.
inline constexpr auto kBloomHashCounts =
    kHashCounts<1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20>;

template <typename Policy>
struct BitKind : Policy {
  static std::span<const std::uint8_t> hash_counts() noexcept { return Policy::kHashCountChoice; }

  static const char* fault_of(const FilterParams& /*params*/, const ShardEntry& entry) noexcept {
    const bool plain = entry.seed == 0 && entry.width == 0 && entry.block_count == 0 && entry.shape == 0;
    return plain ? nullptr : "its kind knows no seed, width, block count or shape";
  }

  static void build(MutableBytes shard, ShardEntry& entry, const FilterParams& params,
                    std::span<const KeyHash> keys) {
    for (const KeyHash& key : keys) Policy::add(shard.data(), params, key.low);
    entry.key_count = static_cast<std::uint16_t>(keys.size());
  }

  static bool add(MutableBytes shard, const ShardEntry& /*entry*/, const FilterParams& params,
                  KeyHash hash) noexcept {
    Policy::add(shard.data(), params, hash.low);
    return true;
  }

  static double fill_ratio(Bytes shard, const ShardEntry& /*entry*/, const FilterParams& /*params*/) {
    return keysieve::fill_ratio(shard);
  }

  static double estimated_fpr(Bytes shard, const ShardEntry& /*entry*/, const FilterParams& params) {
    return Policy::estimated_fpr(shard, params);
  }

  static Lookup lookup(const FilterParams& /*params*/, InstructionSet instructions) noexcept {
#if KEYSIEVE_X86_64
    if constexpr (requires { typename Policy::Avx2; }) {
      if (instructions >= InstructionSet::Avx2) {
        return lookup_of<Avx2Functions<typename Policy::template Probe<typename Policy::Avx2>>>();
      }
    }
#endif
    static_cast<void>(instructions);
    return lookup_of<ScalarFunctions<typename Policy::template Probe<Policy>>>();
  }
};

}  // namespace keysieve
