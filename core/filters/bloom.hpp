// Classic Bloom filter over a whole shard: k bits anywhere in it. Smallest of the mutable kinds, k cache
// lines at most per lookup. Source: Bloom, "Space/time trade-offs in hash coding with allowable errors"
// (1970).
#pragma once

#include "core/filters/bit_kind.hpp"

namespace keysieve {

struct Bloom {
  static constexpr std::uint8_t kId = 1;
  static constexpr std::string_view kName = "bloom";
  static constexpr std::string_view kSummary =
      "classic, k bits anywhere in the shard: smallest that can be added to";
  static constexpr auto& kHashCountChoice = kBloomHashCounts;
  static constexpr bool kCanCount = true;

  // Position i is the top bits of low * G^i, G = 2^64 / golden ratio, odd: each probe is remixed. Plain
  // double hashing measured 1.17 times the theoretical FPR at 0.1 % in 1 KiB shards (docs/filters.md).
  static constexpr std::uint64_t kRemix = 0x9E3779B97F4A7C15;

  class Positions {
   public:
    Positions(const FilterParams& params, std::uint64_t low) noexcept
        : state_(low), shift_(64 - std::countr_zero(params.shard_bytes) - 3) {}
    std::uint64_t next() noexcept { return (state_ *= kRemix) >> shift_; }

   private:
    std::uint64_t state_;
    int shift_;
  };

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

  static void prefetch(const std::byte* shard, const FilterParams& params, std::uint64_t low) noexcept {
    Positions positions(params, low);
    for (int i = 0; i < params.hash_count; ++i) __builtin_prefetch(shard + positions.next() / 8);
  }

  static double theoretical_fpr(const FilterParams& params, double keys_per_shard) {
    const double bits = 8.0 * params.shard_bytes;
    const double k = params.hash_count;
    return smooth_poisson_mean(keys_per_shard,
                               [=](double keys) { return chance_all_set(bits, keys * k, k); });
  }

  static double estimated_fpr(Bytes shard, const FilterParams& params) {
    return std::pow(fill_ratio(shard), params.hash_count);
  }
};

}  // namespace keysieve
