// What builds partitioned Bloom filters.
#pragma once

#include "core/builder/filters/bit_kind.hpp"
#include "core/worker/filters/partitioned_bloom.hpp"

namespace keysieve {

struct PartitionedBloomBuilder : ScatteredBitsBuilder<PartitionedBloom> {
  static constexpr std::string_view kSummary = "one bit in each of k partitions of the shard: for comparison";

  // Partitions are independent once the number of keys in the shard is given.
  static double theoretical_fpr(const FilterParams& params, double keys_per_shard) {
    const double bits = 8.0 * PartitionedPositions::partition_bytes(params);
    return smooth_poisson_mean(keys_per_shard, [&](double keys) {
      return std::pow(1.0 - std::pow(1.0 - 1.0 / bits, keys), params.hash_count);
    });
  }

  static double estimated_fpr(Bytes shard, const FilterParams& params) {
    const std::uint32_t bytes = PartitionedPositions::partition_bytes(params);
    double all_set = 1.0;
    for (std::size_t i = 0; i < params.hash_count; ++i)
      all_set *= fill_ratio(shard.subspan(i * bytes, bytes));
    return all_set;
  }
};

}  // namespace keysieve
