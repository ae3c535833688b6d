// Partitioned Bloom filter: the shard is cut into k equal partitions, and each key sets one bit in each. A
// little larger than the classic one, but its k bits are independent; here for comparison. Source: Kirsch,
// Mitzenmacher, "Less hashing, same performance: building a better Bloom filter" (2006).
#pragma once

#include "core/worker/filters/bit_kind.hpp"

namespace keysieve {

// The bit in partition i: the top 32 bits of mixed * G^(i + 1), reduced to the number of bits of a partition.
class PartitionedPositions {
 public:
  // Whole bytes; the remainder after dividing by k is left over at the end.
  PartitionedPositions(const FilterParams& params, std::uint64_t mixed) noexcept
      : state_(mixed), partition_bits_(8 * (params.shard_bytes / params.hash_count)) {}
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
};

}  // namespace keysieve
