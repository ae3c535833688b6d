// What builds split block Bloom filters.
#pragma once

#include "core/builder/filters/bit_kind.hpp"
#include "core/worker/filters/split_block_bloom.hpp"

namespace keysieve {

struct SplitBlockBloomBuilder : BlockBuilder<SplitBlockBloom> {
  static constexpr std::string_view kSummary = "one bit in each of eight 32-bit lanes: fastest, the default";

  static void add(std::byte* shard, const FilterParams& params, std::uint64_t mixed) noexcept {
    std::byte* block = block_of(shard, params, mixed);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      std::byte* address = block + lane * kLaneBytes;
      store(address, load<std::uint32_t>(address) | lane_bit(mixed, lane));
    }
  }

  // Lanes are independent once the number of keys in the block is given.
  static double theoretical_fpr(const FilterParams& params, double keys_per_shard) {
    const double keys_per_block = keys_per_shard * kBlockBytes / params.shard_bytes;
    return poisson_mean(keys_per_block,
                        [](double keys) { return std::pow(1.0 - std::pow(1.0 - 1.0 / 32.0, keys), kLanes); });
  }

  static double estimated_fpr(Bytes shard, const FilterParams& /*params*/) {
    double sum = 0.0;
    for (std::size_t at = 0; at < shard.size(); at += kBlockBytes) {
      double all_set = 1.0;
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        const auto bits = load<std::uint32_t>(shard.data() + at + lane * kLaneBytes);
        all_set *= std::popcount(bits) / (8.0 * kLaneBytes);
      }
      sum += all_set;
    }
    return sum * kBlockBytes / static_cast<double>(shard.size());
  }
};

}  // namespace keysieve
