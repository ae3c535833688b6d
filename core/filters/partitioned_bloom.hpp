// Partitioned Bloom filter: the shard is cut into k equal partitions, and each key sets one bit in each. A
// little larger than the classic one, but its k bits are independent; here for comparison. Source: Kirsch,
// Mitzenmacher, "Less hashing, same performance: building a better Bloom filter" (2006).
#pragma once

#include "core/filters/bit_kind.hpp"

namespace keysieve {

// The bit in partition i: the top 32 bits of mixed * G^(i + 1), reduced to the number of bits of a partition.
class PartitionedPositions {
 public:
  // Whole bytes; the remainder after dividing by k is left over at the end.
  static std::uint32_t partition_bytes(const FilterParams& params) noexcept {
    return params.shard_bytes / params.hash_count;
  }

  PartitionedPositions(const FilterParams& params, std::uint64_t mixed) noexcept
      : state_(mixed), partition_bits_(8 * partition_bytes(params)) {}
  std::uint64_t next() noexcept {
    const std::uint32_t position = begin_ + reduce((state_ *= kG) >> 32, partition_bits_);
    begin_ += partition_bits_;
    return position;
  }

 private:
  std::uint64_t state_;
  std::uint32_t partition_bits_;
  std::uint32_t begin_ = 0;
};

struct PartitionedBloom : ScatteredBits<PartitionedPositions> {
  static constexpr std::uint8_t kId = 2;
  static constexpr std::string_view kName = "partitioned_bloom";
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
