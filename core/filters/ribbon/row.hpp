// The row of a key, and where on the line of slots it starts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/hash/key_hash.hpp"

namespace keysieve::ribbon {

// Coefficient i belongs to slot start + i.
inline constexpr int kWindow = 64;
using Row = std::uint64_t;

// What a ribbon derives from a key: a position on the line of slots, the coefficients of its row, the bits it
// is compared by, and the number that decides whether the key may be exempt from the last column.
class RowHash {
 public:
  RowHash() = default;
  // Each seed moves a key to another place.
  RowHash(KeyHash hash, std::uint8_t seed) noexcept : mixed_(remix(hash, seed)) {}

  [[nodiscard]] std::uint32_t position() const noexcept { return static_cast<std::uint32_t>(mixed_ >> 32); }

  // The first coefficient is always 1, so that elimination knows where a row begins.
  [[nodiscard]] Row row() const noexcept { return mixed_ * kA | 1; }

  // Bit j is the parity that column j must give; the topmost bit is for the last column.
  [[nodiscard]] std::uint32_t fingerprint() const noexcept {
    return static_cast<std::uint32_t>(mixed_ * kC >> 32);
  }
  static constexpr int kLastColumnBit = 31;

  [[nodiscard]] std::uint16_t exemption() const noexcept {
    return static_cast<std::uint16_t>(mixed_ * kD >> 48);
  }

 private:
  std::uint64_t mixed_;
};

// Where rows start. A ribbon is full when, at some place, more rows have come than there are slots. The
// number of rows is a random walk, and a window of w slots tolerates only about w / 2 of it. So positions are
// not spread evenly: the line of slots is cut at three levels, chosen per shard so that each quarter of the
// positions gets as many slots as it has keys. This removes most of the walk, and with it nearly all the
// slack that a ribbon needs.
//
// Stored in fifteen bits: three numbers of five bits, each 16 more than the steps by which the end of a
// quarter is behind its even place.
inline constexpr int kLevelBits = 5;
inline constexpr int kLevelCount = 3;
inline constexpr std::int32_t kEvenLevel = 16;
inline constexpr std::int32_t kMostSteps = 15;
inline constexpr std::int32_t kStepSlots = 8;  // 15 steps are 3.5 standard deviations at 4,700 keys
inline constexpr std::uint16_t kEvenLevels =
    kEvenLevel | kEvenLevel << kLevelBits | kEvenLevel << 2 * kLevelBits;
inline constexpr std::uint16_t kHighestLevels = (1 << kLevelCount * kLevelBits) - 1;

// The slots of one system of equations, and how positions are spread over them.
class Line {
 public:
  Line(std::uint32_t slots, std::uint16_t levels) noexcept
      : slots_(slots),
        fields_(std::uint32_t{levels} << kLevelBits | kEvenLevel |
                kEvenLevel << (kLevelCount + 1) * kLevelBits) {}

  [[nodiscard]] std::uint32_t slots() const noexcept { return slots_; }

  // First slot of a quarter. The value for the fourth is the end of the line, give or take up to three slots.
  // The outermost are always even.
  [[nodiscard]] std::int32_t level(std::uint32_t quarter) const noexcept {
    const auto field = static_cast<std::int32_t>(fields_ >> quarter * kLevelBits & kFieldMask);
    return static_cast<std::int32_t>(slots_ / 4 * quarter) + (field - kEvenLevel) * kStepSlots;
  }

  // First slot of a row: half a window before the key's place, but always inside the line, for every position
  // and any levels.
  [[nodiscard, gnu::always_inline]] inline std::uint32_t start_of(std::uint32_t position) const noexcept {
    const std::uint32_t quarter = position >> 30;
    const std::uint32_t fields = fields_ >> quarter * kLevelBits;  // of this quarter and the next
    const std::uint32_t from = slots_ / 4 * quarter + (fields & kFieldMask) * kStepSlots;
    const std::uint32_t length =
        slots_ / 4 + ((fields >> kLevelBits & kFieldMask) - (fields & kFieldMask)) * kStepSlots;
    const auto within = static_cast<std::uint32_t>(std::uint64_t{position << 2} * length >> 32);
    const auto start = static_cast<std::int32_t>(from + within - kEvenLevel * kStepSlots - kWindow / 2);
    const std::int32_t last = static_cast<std::int32_t>(slots_) - kWindow;
    return static_cast<std::uint32_t>(std::min(std::max(start, 0), last));
  }

 private:
  static constexpr std::uint32_t kFieldMask = (1 << kLevelBits) - 1;

  std::uint32_t slots_;
  std::uint32_t fields_;
};

}  // namespace keysieve::ribbon
