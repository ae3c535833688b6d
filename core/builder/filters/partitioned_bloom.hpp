// What builds partitioned Bloom filters.
#pragma once

#include "core/builder/filters/bit_builder.hpp"
#include "core/worker/filters/partitioned_bloom.hpp"

namespace keysieve {

struct PartitionedBloomBuilder : ScatteredBitsBuilder<PartitionedBloom> {
  static constexpr std::string_view kSummary = "one bit in each of k partitions of the shard: for comparison";
  static constexpr bool kIsUsual = false;

  static std::uint32_t parts(const FilterParams& params) noexcept { return params.hash_count; }
};

}  // namespace keysieve
