// How a ribbon uses the bytes of its shard. Blocks of 32 slots come first: r words each, one per column, and
// as many blocks as the shard's keys need. The remaining bytes hold one more column, the last, at one bit per
// slot:
//
//   | block 0: r words | block 1 | … | last column: bits | seeds of exemption | levels: 2 | share: 1 |
//
// Fewer bits are left than there are keys, so most shards exempt some keys from the last column:
// exemption.hpp.
#pragma once

#include <algorithm>

#include "core/filters/filter_kind.hpp"
#include "core/filters/ribbon/row.hpp"

namespace keysieve::ribbon {

inline constexpr std::uint32_t kBlockSlots = 32;
inline constexpr std::uint32_t kWordBytes = 4;
inline constexpr std::uint32_t kMostColumns = 24;

// The last slot of the last block is left out, so that a window that begins anywhere ends inside its last
// word.
constexpr std::uint32_t slots_in(std::uint32_t blocks) noexcept {
  return blocks * kBlockSlots - 1;
}
inline constexpr std::uint32_t kFewestBlocks = kWindow / kBlockSlots + 1;

constexpr std::size_t bytes_of_words(std::uint32_t words) noexcept {
  return std::size_t{words} * kWordBytes;
}

// The part after the blocks.
struct Layout {
  std::uint32_t tail_offset;
  std::uint32_t seeds;       // one byte for each group of keys
  std::uint32_t last_slots;  // 0: no last column, all keys are exempt

  static constexpr std::uint32_t kTrailerBytes = 3;

  // The entry must be valid.
  static Layout of(std::uint32_t shard_bytes, const ShardEntry& entry) noexcept {
    const std::uint32_t tail_offset = std::uint32_t{entry.block_count} * entry.width * kWordBytes;
    const std::uint32_t tail_bytes = shard_bytes - tail_offset;
    if (tail_bytes < kFewestTailBytes) return {tail_offset, 0, 0};
    const std::uint32_t seeds = seeds_for(entry.key_count, 8 * tail_bytes);
    return {tail_offset, seeds, 8 * (tail_bytes - kTrailerBytes - seeds)};
  }

  [[nodiscard]] std::uint32_t seeds_offset() const noexcept { return tail_offset + last_slots / 8; }
  [[nodiscard]] std::uint32_t levels_offset() const noexcept { return seeds_offset() + seeds; }
  [[nodiscard]] std::uint32_t share_offset() const noexcept { return levels_offset() + 2; }

  [[nodiscard]] std::uint32_t group_of(std::uint32_t position) const noexcept {
    return static_cast<std::uint32_t>(std::uint64_t{position} * seeds >> 32);
  }
  [[nodiscard]] std::uint8_t seed_of(const std::byte* shard, std::uint32_t position) const noexcept {
    return seeds == 0 ? std::uint8_t{0} : load<std::uint8_t>(shard + seeds_offset() + group_of(position));
  }

 private:
  // A window of slots, the seeds, and enough to gain something; fixed by the format.
  static constexpr std::uint32_t kFewestTailBytes = 64;

  // A seed saves 2.82 standard deviations of the group's exempt keys. Smaller groups pay as long as that
  // saving grows by more than the 8 bits of one more seed: groups of (2 * 8 / (2.82 s))^2 = 32 / s^2 keys,
  // s^2 = share (1 - share). In 32 bits, since lookups divide here: the product stays below 2^30.
  static std::uint32_t seeds_for(std::uint32_t keys, std::uint32_t bits) noexcept {
    if (keys <= bits) return 0;
    return std::min(bits * (keys - bits) / (32 * keys), bits / 32);
  }
};

}  // namespace keysieve::ribbon
