// What kinds whose keys set all their bits in one block of the shard have in common: a lookup reads one cache
// line. The block of the default kind is here too, because the live layer is made of such blocks.
#pragma once

#include <array>
#include <utility>

#include "core/worker/filters/lookup_kind.hpp"

namespace keysieve {

// A block of a power of two bytes.
template <std::uint32_t kBytes>
struct Blocks {
  static constexpr std::uint32_t kBlockBytes = kBytes;

  // Offset in the shard of a key's block: the topmost bits of `mixed` choose it.
  static constexpr std::uint64_t block_offset(int offset_shift, std::uint64_t mixed) noexcept {
    return mixed >> offset_shift & ~std::uint64_t{kBytes - 1};
  }
};

// The block of a split block Bloom filter: which of its bits belong to a key. Used by that kind and by the
// live layer.
struct SplitBlock : Blocks<32> {
  static constexpr std::size_t kLaneBytes = 4;
  static constexpr std::uint32_t kLanes = 8;

  // The topmost bits of `mixed` choose the block; the bit of lane i is the top 5 bits of lower half *
  // kSalts[i]. The odd salts are those of the Parquet format, which are known to work well.
  static constexpr std::array<std::uint32_t, kLanes> kSalts{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                                            0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

  static std::uint32_t lane_bit_number(std::uint64_t mixed, std::uint32_t lane) noexcept {
    return (static_cast<std::uint32_t>(mixed) * kSalts[lane]) >> 27;
  }
  static std::uint32_t lane_bit(std::uint64_t mixed, std::uint32_t lane) noexcept {
    return std::uint32_t{1} << lane_bit_number(mixed, lane);
  }

  // Whether the block whose lane i is `lane_at(i)` has all bits of the key. No early exit: a branch per lane
  // would be mispredicted half of the time. Unrolled by hand, because the loop takes twice the instructions
  // (gcc 12, -O2 and -O3).
  template <typename LaneAt>
  static bool has_all_bits(std::uint64_t mixed, LaneAt lane_at) noexcept {
    const auto in_lanes = [&]<std::uint32_t... Lane>(std::integer_sequence<std::uint32_t, Lane...>) {
      return (((lane_at(Lane) >> lane_bit_number(mixed, Lane)) & ...) & 1) != 0;
    };
    return in_lanes(std::make_integer_sequence<std::uint32_t, kLanes>{});
  }
};

}  // namespace keysieve
