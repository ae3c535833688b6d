// What a ribbon makes of a key: a position on the line of slots, the coefficients of its row, the bits it is
// compared by, and the number that decides whether the last column may let it off. All from `low` alone.
#pragma once

#include <cstdint>

#include "core/hash/remix.hpp"

namespace keysieve::ribbon {

// The row of a key: coefficient i belongs to slot start + i.
inline constexpr int kWindow = 64;
using Row = std::uint64_t;

class RowHash {
 public:
  RowHash() = default;
  // A key falls elsewhere with every seed.
  RowHash(std::uint64_t low, std::uint8_t seed) noexcept : mixed_(remix(low, seed)) {}

  [[nodiscard]] std::uint32_t position() const noexcept { return static_cast<std::uint32_t>(mixed_ >> 32); }

  // The first coefficient is always 1, so that elimination knows where a row begins.
  [[nodiscard]] Row row() const noexcept { return mixed_ * kA | 1; }

  // Bit j is the parity that column j must give; the topmost is that of the last column.
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

}  // namespace keysieve::ribbon
