// Counting the set bits of a stretch of a shard.
#pragma once

#include <bit>

#include "core/base/bytes.hpp"

namespace keysieve {

inline std::uint64_t count_set_bits(Bytes bytes) noexcept {
  std::uint64_t count = 0;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    count += static_cast<std::uint64_t>(std::popcount(load<std::uint64_t>(bytes.data())));
  }
  for (const std::byte byte : bytes) {
    count += static_cast<std::uint64_t>(std::popcount(std::to_integer<std::uint8_t>(byte)));
  }
  return count;
}

inline double fill_ratio(Bytes bytes) noexcept {
  return static_cast<double>(count_set_bits(bytes)) / (8.0 * static_cast<double>(bytes.size()));
}

inline void set_bit(std::byte* bytes, std::uint64_t position) noexcept {
  bytes[position / 8] |= std::byte{1} << (position % 8);
}

inline void clear_bit(std::byte* bytes, std::uint64_t position) noexcept {
  bytes[position / 8] &= ~(std::byte{1} << (position % 8));
}

inline bool test_bit(const std::byte* bytes, std::uint64_t position) noexcept {
  return (bytes[position / 8] & (std::byte{1} << (position % 8))) != std::byte{0};
}

}  // namespace keysieve
