// Numbers of some bits each, packed one after the other from the front of a shard.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/bytes.hpp"

namespace keysieve {

inline constexpr std::uint32_t kWidestField = 32;

// Fields of one width in one shard. Reads and writes whole words, never outside the shard, as long as the
// field itself lies inside.
class PackedFields {
 public:
  PackedFields() = default;
  // `width`: 0 to kWidestField bits; fields of no bits are all 0.
  PackedFields(std::uint32_t shard_bytes, std::uint32_t width) noexcept
      : last_word_(shard_bytes - kWordBytes), width_(width) {}

  [[nodiscard]] std::uint32_t width() const noexcept { return width_; }
  [[nodiscard]] std::uint32_t greatest() const noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{1} << width_) - 1);
  }

  // Byte of the shard where the word with the field begins.
  [[nodiscard]] std::uint32_t word_of(std::uint32_t index) const noexcept {
    return std::min(index * width_ / 8, last_word_);
  }

  [[nodiscard]] std::uint32_t get(const std::byte* shard, std::uint32_t index) const noexcept {
    const std::uint32_t word = word_of(index);
    return static_cast<std::uint32_t>(load<std::uint64_t>(shard + word) >> (index * width_ - 8 * word)) &
           greatest();
  }

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
