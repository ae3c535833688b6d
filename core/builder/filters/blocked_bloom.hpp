// What builds blocked Bloom filters.
#pragma once

#include "core/builder/filters/bit_kind.hpp"
#include "core/worker/filters/blocked_bloom.hpp"

namespace keysieve {

struct BlockedBloomBuilder : BlockBuilder<BlockedBloom> {
  static constexpr std::string_view kSummary = "k bits in one cache line: one line per lookup at fewer bits";

  static void add(std::byte* shard, const FilterParams& params, std::uint64_t mixed) noexcept {
    std::byte* block = block_of(shard, params, mixed);
    of_all_words(params, mixed, [block](std::uint32_t word, std::uint32_t bits) {
      for (std::uint32_t i = 0; i < bits; ++i) set(block, Place(word, i));
      return true;
    });
  }

  static double theoretical_fpr(const FilterParams& params, double keys_per_shard) {
    const double k = params.hash_count;
    const double keys_per_block = keys_per_shard * kBlockBytes / params.shard_bytes;
    return poisson_mean(keys_per_block,
                        [=](double keys) { return chance_all_set(8.0 * kBlockBytes, keys * k, k); });
  }

  static double estimated_fpr(Bytes shard, const FilterParams& params) {
    double sum = 0.0;
    for (std::size_t at = 0; at < shard.size(); at += kBlockBytes) {
      sum += std::pow(fill_ratio(shard.subspan(at, kBlockBytes)), params.hash_count);
    }
    return sum * kBlockBytes / static_cast<double>(shard.size());
  }

 private:
  static void set(std::byte* block, const Place& place) noexcept {
    std::byte* lane = block + place.lane_offset();
    store(lane, load<std::uint32_t>(lane) | place.mask());
  }
};

}  // namespace keysieve
