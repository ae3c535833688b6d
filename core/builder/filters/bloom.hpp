// What builds classic Bloom filters.
#pragma once

#include "core/builder/filters/bit_kind.hpp"
#include "core/worker/filters/bloom.hpp"

namespace keysieve {

struct BloomBuilder : ScatteredBitsBuilder<Bloom> {
  static constexpr std::string_view kSummary = "classic: k bits anywhere in the shard";

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
