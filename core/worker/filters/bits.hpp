// Bits and packed numbers in a stretch of a shard. Nothing here checks a position: it must be in the stretch.
// No allocation, no exception. Any thread reads, as long as nobody writes to the bytes; a builder writes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/worker/base/bytes.hpp"

namespace keysieve {

inline std::uint64_t count_set_bits(Bytes bytes) noexcept {
  std::uint64_t count = 0;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    count += static_cast<std::uint64_t>(std::popcount(load<std::uint64_t>(bytes.data())));
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, bytes.data(), bytes.size());
  return count + static_cast<std::uint64_t>(std::popcount(rest));
}

// Share of bits set, 0 to 1. The stretch must not be empty.
inline double fill_ratio(Bytes bytes) noexcept {
  return static_cast<double>(count_set_bits(bytes)) / (8.0 * static_cast<double>(bytes.size()));
}

// Bit `position % 8`, counted from the lowest, of byte `position / 8`.
inline bool test_bit(const std::byte* bytes, std::uint64_t position) noexcept {
  return (bytes[position / 8] & (std::byte{1} << (position % 8))) != std::byte{0};
}

inline void set_bit(std::byte* bytes, std::uint64_t position) noexcept {
  bytes[position / 8] |= std::byte{1} << (position % 8);
}

inline constexpr std::uint32_t kWidestField = 32;

// Numbers of one width, packed one after the other from the start of a shard. Reads whole words, but
// never outside the shard as long as the field itself is inside.
class PackedFields {
 public:
  PackedFields() = default;
  // `width`: 0 to kWidestField bits; fields of zero bits are all 0.
  PackedFields(std::uint32_t shard_bytes, std::uint32_t width) noexcept
      : last_word_(shard_bytes - kWordBytes), width_(width) {}

  [[nodiscard]] std::uint32_t width() const noexcept { return width_; }
  // The greatest number that a field holds.
  [[nodiscard]] std::uint32_t greatest() const noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{1} << width_) - 1);
  }

  // Offset in the shard of the word that holds the field.
  [[nodiscard]] std::uint32_t word_of(std::uint32_t index) const noexcept {
    return std::min(index * width_ / 8, last_word_);
  }

  // The field must be inside a shard of the size given to the constructor.
  [[nodiscard]] std::uint32_t get(const std::byte* shard, std::uint32_t index) const noexcept {
    const std::uint32_t word = word_of(index);
    return static_cast<std::uint32_t>(load<std::uint64_t>(shard + word) >> (index * width_ - 8 * word)) &
           greatest();
  }

  // `value`: at most greatest(). Changes no other field.
  void set(std::byte* shard, std::uint32_t index, std::uint32_t value) const noexcept {
    const std::uint32_t word = word_of(index);
    const std::uint32_t shift = index * width_ - 8 * word;
    const auto before = load<std::uint64_t>(shard + word) & ~(std::uint64_t{greatest()} << shift);
    store(shard + word, before | std::uint64_t{value} << shift);
  }

 private:
  static constexpr std::uint32_t kWordBytes = 8;

  std::uint32_t last_word_;
  std::uint32_t width_;
};

}  // namespace keysieve
