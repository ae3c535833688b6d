// How a ribbon uses the bytes of its shard. A block is eight slots: one byte for each of r columns. There are
// as many blocks as the shard's keys need, and as many columns as fit. The short column takes the rest:
// it is one column more, for the first blocks alone.
//
//   | block 0: r bytes | block 1 | … | short column: a byte for each of the first blocks |
//
// A key is compared by the short column too if its whole window is there. Without columns there is no short
// one either, and every key comes back as maybe.
#pragma once

#include <algorithm>

#include "core/worker/filters/lookup_kind.hpp"
#include "core/worker/filters/ribbon/row.hpp"

namespace keysieve::ribbon {

inline constexpr std::uint32_t kMostColumns = 30;  // and the short one

inline constexpr std::uint32_t kFewestBlocks = kWindowBlocks;
inline constexpr std::uint32_t kMostBlocks = 1U << 14;

// Lookups read 16 bytes at a pair of blocks, however few they have. So the blocks end this many bytes before
// the end of the shard.
inline constexpr std::uint32_t kTailBytes = 16;
inline constexpr std::uint32_t kMapTailBytes = 32;  // those of a map read 32
constexpr std::uint32_t tail_bytes(const FilterParams& params) noexcept {
  return params.value_bits == 0 ? kTailBytes : kMapTailBytes;
}

// The entry must be valid.
struct Layout {
  std::uint32_t blocks;
  std::uint32_t columns;
  std::uint32_t short_blocks;  // of the short column

  static Layout of(const FilterParams& params, const ShardEntry& entry) noexcept {
    return of(params.shard_bytes, entry.block_count, entry.width);
  }
  // With as many columns as fit.
  static Layout of(const FilterParams& params, std::uint32_t blocks) noexcept {
    return of(params.shard_bytes, blocks,
              std::min((params.shard_bytes - tail_bytes(params)) / blocks, kMostColumns + params.value_bits));
  }

  // Windows that begin in a block before this one are in the short column.
  [[nodiscard]] std::uint32_t short_starts() const noexcept {
    return std::max<std::uint32_t>(short_blocks, kWindowBlocks - 1) - (kWindowBlocks - 1);
  }

 private:
  static Layout of(std::uint32_t shard_bytes, std::uint32_t blocks, std::uint32_t columns) noexcept {
    return {blocks, columns, columns == 0 ? 0 : std::min(blocks, shard_bytes - blocks * columns)};
  }
};

}  // namespace keysieve::ribbon
