// Builders of the Bloom family: bits are set one key at a time, in any order. A policy sets the bits of a
// key; what they are worth follows from where they may be.
#pragma once

#include "core/builder/filters/expectation.hpp"
#include "core/builder/filters/filter_kind.hpp"
#include "core/worker/filters/bit_kind.hpp"

namespace keysieve {

template <typename Policy>
concept BitBuildPolicy = BitPolicy<Policy> && requires {
  // Sets the bits of a key in its block: those that check() looks at.
  { Policy::mark } -> IsFunction<void(std::byte*, const FilterParams&, std::uint64_t mixed) noexcept>;
  // A key has equally many of its hash_count bits in each of that many equal parts of its block.
  { Policy::parts } -> IsFunction<std::uint32_t(const FilterParams&) noexcept>;
};

template <BitBuildPolicy Policy>
struct BitBuilder : Policy, WithoutValues {
  static constexpr std::uint32_t kShardAlignment = std::max(Policy::kBlockBytes, kRetrievalUnit);

  static void build(MutableBytes shard, ShardEntry& entry, const FilterParams& params,
                    std::span<const KeyHash> keys) {
    const int offset_shift = 64 - std::countr_zero(params.shard_bytes);
    for (const KeyHash& key : keys) {
      const std::uint64_t mixed = remix(key);
      Policy::mark(shard.data() + Policy::block_offset(offset_shift, mixed), params, mixed);
    }
    entry.key_count = static_cast<std::uint16_t>(keys.size());
  }

  static std::uint32_t cache_lines(const FilterParams& params, double /*keys_per_shard*/) noexcept {
    return Places(params).block_bytes <= kCacheLineBytes ? 1 : params.hash_count;
  }

  // Parts are independent once the number of keys in the block is given.
  static double theoretical_fpr(const FilterParams& params, double keys_per_shard) {
    const Places places(params);
    const double bits = places.bits_of_key;
    return smooth_poisson_mean(
        keys_per_shard * places.block_bytes / params.shard_bytes, [&places, bits](double keys) {
          return power(chance_all_set(8.0 * places.part_bytes, keys * bits, bits), places.parts);
        });
  }

  static double estimated_fpr(Bytes shard, const ShardEntry& /*entry*/, const FilterParams& params) {
    const Places places(params);
    double sum = 0.0;
    for (std::size_t at = 0; at < shard.size(); at += places.block_bytes) {
      double all_set = 1.0;
      for (std::size_t part = 0; part < places.parts; ++part) {
        const Bytes bytes = shard.subspan(at + part * places.part_bytes, places.part_bytes);
        all_set *= power(fill_ratio(bytes), places.bits_of_key);
      }
      sum += all_set;
    }
    return sum * places.block_bytes / static_cast<double>(shard.size());
  }

 private:
  // Where the bits of a key may be.
  struct Places {
    std::uint32_t block_bytes;
    std::uint32_t parts;  // of a block
    std::uint32_t part_bytes;
    std::uint32_t bits_of_key;  // in each part

    explicit Places(const FilterParams& params) noexcept
        : block_bytes(Policy::kBlockBytes == 0 ? params.shard_bytes : Policy::kBlockBytes),
          parts(Policy::parts(params)),
          part_bytes(block_bytes / parts),
          bits_of_key(params.hash_count / parts) {}
  };

  // Exact and fast for the usual exponent.
  static double power(double base, std::uint32_t exponent) {
    return exponent == 1 ? base : std::pow(base, exponent);
  }
};

// For kinds whose bits are ScatteredBits.
template <typename Bits>
struct ScatteredBitsBuilder : Bits {
  static void mark(std::byte* shard, const FilterParams& params, std::uint64_t mixed) noexcept {
    typename Bits::Positions positions(params, mixed);
    for (int i = 0; i < params.hash_count; ++i) set_bit(shard, positions.next());
  }

  static std::uint32_t parts(const FilterParams& /*params*/) noexcept { return 1; }
};

}  // namespace keysieve
