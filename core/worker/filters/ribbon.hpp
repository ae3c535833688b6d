// Ribbon filter: each key is a linear equation over a short window of slots, and the slots are the solution.
// Smallest of all kinds; keys cannot be added. Source: Dillinger, Walzer, "Ribbon filter: practically smaller
// than Bloom and Xor" (2021). Levels (ribbon/row.hpp) bring it within 2 % of the bound in shards of 4 KiB.
#pragma once

#include "core/worker/filters/lookup_of.hpp"
#include "core/worker/filters/ribbon/map_probe.hpp"

namespace keysieve {

struct Ribbon {
  static constexpr std::uint8_t kId = 8;
  static constexpr std::string_view kName = "ribbon";
  // NOLINTNEXTLINE(readability-identifier-naming): in place of a function
  static constexpr std::nullptr_t fill_ratio = nullptr;

  // Number of slots that one lookup combines.
  static constexpr auto& kHashCounts = kCounts<ribbon::kWindow>;

  static const char* fault_of(const FilterParams& params, const ShardEntry& entry) noexcept {
    using namespace ribbon;
    if (entry.shape > kHighestLevels) return "its levels have more bits than there are";
    if (entry.width > kMostColumns + params.value_bits) return "it has more columns than a ribbon can have";
    if (entry.key_count != 0 && entry.width < params.value_bits) return "it has no room for its values";
    if (entry.block_count < kFewestBlocks) return "a window is longer than its slots";
    if (entry.block_count > kMostBlocks) return "it has more blocks than a ribbon can have";
    const std::uint32_t bytes = std::uint32_t{entry.block_count} * entry.width + tail_bytes(params);
    if (bytes > params.shard_bytes) return "its slots reach beyond the shard";
    // Without columns nothing is compared; such entries are written without levels.
    const bool is_line = entry.width == 0 || Line(entry.block_count, entry.shape).is_in_order();
    return is_line ? nullptr : "a quarter of its line ends before it begins";
  }

  static Lookup lookup(const FilterParams& params, InstructionSet instructions) noexcept {
    using namespace ribbon;
#if KEYSIEVE_X86_64
    if (instructions == InstructionSet::Avx2 && params.value_bits != 0)
      return lookup_of<Avx2Code, MapProbe<Avx2MapKernel>>(params);
    if (instructions == InstructionSet::Avx2) return lookup_of<Avx2Code, Probe<Avx2Kernel>>(params);
#endif
    static_cast<void>(instructions);
    if (params.value_bits != 0) return lookup_of<BaselineCode, MapProbe<ScalarMapKernel>>(params);
    return lookup_of<BaselineCode, Probe<ScalarKernel>>(params);
  }
};

}  // namespace keysieve
