// Binary fuse filter: an xor filter whose positions are in neighbouring segments, so that keys can be peeled
// from both ends of the table, which makes it denser. Source: Graf, Lemire, "Binary fuse filters: fast and
// smaller than xor filters" (2022). Keys cannot be added; here for comparison.
#pragma once

#include "core/worker/filters/peeled_kind.hpp"

namespace keysieve {

struct BinaryFuse {
  static constexpr std::uint8_t kId = 7;
  static constexpr std::string_view kName = "binary_fuse";
  static constexpr auto& kHashCounts = kCounts<3, 4>;

  static constexpr int kInsideBits = 10;  // of the hash, for the place inside a segment

  template <std::size_t kCount>
  class Table {
   public:
    static constexpr std::size_t kPositions = kCount;

    explicit Table(const ShardEntry& entry) noexcept
        : starts_(std::uint32_t{entry.block_count} << entry.shape), length_(1U << entry.shape) {}

    [[nodiscard]] std::uint32_t slots() const noexcept {
      return starts_ + static_cast<std::uint32_t>(kPositions - 1) * length_;
    }

    // The upper half of the hash gives the first position; the others are one, two and three segments later,
    // each moved inside its segment.
    [[nodiscard]] peeled::Positions<kPositions> positions(std::uint64_t mixed) const noexcept {
      const std::uint32_t first = reduce(mixed >> 32, starts_);
      std::uint64_t inside = mixed * kA;
      peeled::Positions<kPositions> positions;
      positions[0] = first;
      for (std::uint32_t i = 1; i < kPositions; ++i, inside <<= kInsideBits) {
        const auto moved = static_cast<std::uint32_t>(inside >> (64 - kInsideBits));
        positions[i] = (first + i * length_) ^ (moved & (length_ - 1));
      }
      return positions;
    }

   private:
    std::uint32_t starts_;  // slots that can be a key's first
    std::uint32_t length_;  // of a segment
  };

  static const char* fault_of_table(const FilterParams& params, const ShardEntry& entry,
                                    std::uint32_t slots) noexcept {
    if (entry.shape > kInsideBits) return "its segments are longer than they can be";
    if (entry.block_count == 0) return "it has fields of a table without segments";
    const std::uint32_t segments = entry.block_count + params.hash_count - 1U;
    return segments <= slots >> entry.shape ? nullptr : "its slots reach beyond the shard";
  }
};

}  // namespace keysieve
