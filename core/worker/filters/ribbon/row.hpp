// The row of a key, and where on the line of slots it starts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/worker/hash/key_hash.hpp"

namespace keysieve::ribbon {

// Coefficient i belongs to slot i of the window. A window is eight blocks of eight slots.
inline constexpr int kWindow = 64;
inline constexpr int kBlockSlots = 8;
inline constexpr int kWindowBlocks = kWindow / kBlockSlots;
using Row = std::uint64_t;

// What a ribbon derives from a key: a position on the line of slots, the coefficients of its row, and the
// bits it is compared by.
class RowHash {
 public:
  RowHash() = default;
  explicit RowHash(KeyHash hash) noexcept : mixed_(remix(hash)) {}

  // Positions are in 256 bins, and each seed puts the bins into another order, so that the builder can count
  // keys once and then choose among orders. Each seed below kSeeds multiplies the bin by another odd number.
  [[nodiscard]] std::uint32_t position(std::uint8_t seed) const noexcept {
    const auto position = static_cast<std::uint32_t>(mixed_ >> 32);
    return position + (position & kBinMask) * (2U * seed);
  }
  [[nodiscard]] std::uint32_t bin() const noexcept { return static_cast<std::uint32_t>(mixed_ >> 56); }

  [[nodiscard]] Row row() const noexcept { return mixed_ * kA; }

  // Bit j is the parity that column j must give.
  [[nodiscard]] std::uint32_t fingerprint() const noexcept {
    return static_cast<std::uint32_t>(mixed_ * kC >> 32);
  }

 private:
  static constexpr std::uint32_t kBinMask = 0xff000000;

  std::uint64_t mixed_;
};

inline constexpr std::uint32_t kBins = 256;
inline constexpr std::uint32_t kSeeds = 128;

// Where rows start. A ribbon is full when, at some place, more rows have come than there are slots. The
// number of rows is a random walk, and a window of w slots tolerates only about w / 2 of it. So positions are
// not spread evenly: the line of blocks is cut at three levels, chosen per shard so that each quarter of the
// positions gets as many slots as it has keys. This removes most of the walk, and with it nearly all the
// slack that a ribbon needs.
//
// Stored in fifteen bits: three numbers of five bits, each 16 more than the blocks by which the end of a
// quarter is behind its even place.
inline constexpr int kLevelBits = 5;
inline constexpr int kLevelCount = 3;
inline constexpr std::int32_t kEvenLevel = 16;
inline constexpr std::int32_t kMostSteps = 15;  // 120 slots: 3.5 standard deviations at 4,700 keys
inline constexpr std::uint16_t kEvenLevels =
    kEvenLevel | kEvenLevel << kLevelBits | kEvenLevel << 2 * kLevelBits;
inline constexpr std::uint16_t kHighestLevels = (1 << kLevelCount * kLevelBits) - 1;

// The blocks of one shard, and how positions are spread over them. Counts in quarters of a block.
class Line {
 public:
  Line(std::uint32_t blocks, std::uint16_t levels) noexcept
      : blocks_(blocks),
        fields_(std::uint32_t{levels} << kLevelBits | kEvenLevel |
                kEvenLevel << (kLevelCount + 1) * kLevelBits) {}

  // Where a quarter of the positions begins; for the fourth, the end of the line. The outermost are always
  // even.
  [[nodiscard]] std::int32_t level(std::uint32_t quarter) const noexcept {
    const auto field = static_cast<std::int32_t>(fields_ >> quarter * kLevelBits & kFieldMask);
    return static_cast<std::int32_t>(blocks_ * quarter) + (field - kEvenLevel) * 4;
  }

  // Whether no quarter ends before it begins.
  [[nodiscard]] bool is_in_order() const noexcept {
    for (std::uint32_t quarter = 0; quarter <= kLevelCount; ++quarter) {
      if (level(quarter + 1) < level(quarter)) return false;
    }
    return true;
  }

  // The first block of a row: half a window before the key's place, but always inside the line, for every
  // position and any levels.
  [[nodiscard, gnu::always_inline]] inline std::uint32_t block_of(std::uint32_t position) const noexcept {
    const std::uint32_t quarter = position >> 30;
    const std::uint32_t fields = fields_ >> quarter * kLevelBits;  // of this quarter and the next
    const std::uint32_t field = fields & kFieldMask;
    const std::uint32_t length = blocks_ + 4 * ((fields >> kLevelBits & kFieldMask) - field);
    const std::uint64_t from = std::uint64_t{blocks_ * quarter + 4 * field} << 32;
    const std::uint64_t place = from + std::uint64_t{position << 2} * length;  // 2^34 are a block
    const auto block = static_cast<std::int32_t>(place >> 34) - (kEvenLevel + kWindowBlocks / 2);
    const std::int32_t last = static_cast<std::int32_t>(blocks_) - kWindowBlocks;
    return static_cast<std::uint32_t>(std::min(std::max(block, 0), last));
  }

  // Share of all positions whose rows start before a block.
  [[nodiscard]] double share_before(std::uint32_t block) const noexcept {
    std::uint64_t share = 0;  // of 2^32, bit by bit, because later positions never start earlier
    for (std::uint64_t bit = std::uint64_t{1} << 31; bit != 0; bit /= 2) {
      if (block_of(static_cast<std::uint32_t>(share + bit - 1)) < block) share += bit;
    }
    return std::ldexp(static_cast<double>(share), -32);
  }

 private:
  static constexpr std::uint32_t kFieldMask = (1 << kLevelBits) - 1;

  std::uint32_t blocks_;
  std::uint32_t fields_;
};

}  // namespace keysieve::ribbon
