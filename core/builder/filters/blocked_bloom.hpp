// What builds blocked Bloom filters.
#pragma once

#include "core/builder/filters/bit_builder.hpp"
#include "core/worker/filters/blocked_bloom.hpp"

namespace keysieve {

struct BlockedBloomBuilder : BlockedBloom {
  static constexpr std::string_view kSummary = "k bits in one cache line: one line per lookup at fewer bits";
  static constexpr bool kIsUsual = false;

  static void mark(std::byte* block, const FilterParams& params, std::uint64_t mixed) noexcept {
    of_all_words(params, mixed, [block](std::uint32_t word, std::uint32_t bits) {
      for (std::uint32_t i = 0; i < bits; ++i) set(block, Place(word, i));
      return true;
    });
  }

  static std::uint32_t parts(const FilterParams& /*params*/) noexcept { return 1; }

 private:
  static void set(std::byte* block, const Place& place) noexcept {
    std::byte* lane = block + place.lane_offset();
    store(lane, load<std::uint32_t>(lane) | place.mask());
  }
};

}  // namespace keysieve
