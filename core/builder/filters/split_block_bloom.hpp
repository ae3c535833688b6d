// What builds split block Bloom filters.
#pragma once

#include "core/builder/filters/bit_builder.hpp"
#include "core/worker/filters/split_block_bloom.hpp"

namespace keysieve {

struct SplitBlockBloomBuilder : SplitBlockBloom {
  static constexpr std::string_view kSummary = "one bit in each of eight 32-bit lanes: fastest, the default";
  static constexpr bool kIsUsual = true;

  static void mark(std::byte* block, const FilterParams& /*params*/, std::uint64_t mixed) noexcept {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      std::byte* address = block + lane * kLaneBytes;
      store(address, load<std::uint32_t>(address) | lane_bit(mixed, lane));
    }
  }

  static constexpr std::uint32_t parts(const FilterParams& /*params*/) noexcept { return kLanes; }
};

}  // namespace keysieve
