// Xor filter: one position in each third of the table. Source: Graf, Lemire, "Xor filters: faster and smaller
// than Bloom and cuckoo filters" (2020). Keys cannot be added; here for comparison.
#pragma once

#include "core/worker/filters/peeled_kind.hpp"

namespace keysieve {

struct Xor {
  static constexpr std::uint8_t kId = 6;
  static constexpr std::string_view kName = "xor";
  static constexpr auto& kHashCounts = kCounts<3>;

  template <std::size_t kCount>
  class Table {
   public:
    static constexpr std::size_t kPositions = kCount;

    explicit Table(const ShardEntry& entry) noexcept : third_(entry.block_count) {}

    [[nodiscard]] std::uint32_t slots() const noexcept { return kPositions * third_; }

    // Each position uses 21 bits of the hash.
    [[nodiscard]] peeled::Positions<kPositions> positions(std::uint64_t mixed) const noexcept {
      peeled::Positions<kPositions> positions;
      for (std::size_t i = 0; i < kPositions; ++i, mixed >>= 21) {
        positions[i] = static_cast<std::uint32_t>(i * third_ + ((mixed & 0x1fffff) * third_ >> 21));
      }
      return positions;
    }

   private:
    std::uint32_t third_;
  };

  static const char* fault_of_table(const FilterParams& /*params*/, const ShardEntry& entry,
                                    std::uint32_t slots) noexcept {
    if (entry.shape != 0) return "its kind has no shape";
    if (entry.block_count == 0) return "it has fields of a table without slots";
    return entry.block_count <= slots / 3 ? nullptr : "its slots reach beyond the shard";
  }
};

}  // namespace keysieve
