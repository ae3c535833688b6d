// Blocked Bloom filter: all k bits of a key in one 512-bit block, so a lookup touches one cache line.
// Source: Putze, Sanders, Singler, "Cache-, hash- and space-efficient Bloom filters" (2007).
#pragma once

#include "core/filters/bit_kind.hpp"
#include "core/filters/blocks.hpp"

namespace keysieve {

struct BlockedBloom : Blocks<64> {
  static constexpr std::uint8_t kId = 3;
  static constexpr std::string_view kName = "blocked_bloom";
  static constexpr std::string_view kSummary = "k bits in one cache line: one line per lookup at fewer bits";
  static constexpr auto& kHashCountChoice = kBloomHashCounts;

  // The topmost bits of `low` choose the block; bit i is the top 9 bits of low * G^i. The multiplication
  // carries every lower bit into the top ones, so the bits do not follow from the block.
  static constexpr int kBitShift = 64 - 9;

  static void add(std::byte* shard, const FilterParams& params, std::uint64_t low) noexcept {
    std::byte* block = block_of(shard, params, low);
    for (int i = 0; i < params.hash_count; ++i) set_bit(block, (low *= kG) >> kBitShift);
  }

  static bool may_contain(const std::byte* block, const FilterParams& params, std::uint64_t low) noexcept {
    for (int i = 0; i < params.hash_count; ++i) {
      if (!test_bit(block, (low *= kG) >> kBitShift)) return false;
    }
    return true;
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
};

}  // namespace keysieve
