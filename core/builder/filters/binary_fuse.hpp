// What builds binary fuse filters.
#pragma once

#include "core/builder/filters/peeled_builder.hpp"
#include "core/worker/filters/binary_fuse.hpp"

namespace keysieve {

struct BinaryFuseBuilder : BinaryFuse {
  static constexpr std::string_view kSummary = "fingerprint over neighbouring segments: for comparison";
  static constexpr bool kIsUsual = false;

  // Segments are shorter than the source's, which are meant for large tables. Measured with 3 and 4 positions
  // at 300 to 8,000 keys: half of the seeds work with 1.25 and 1.21 slots per key and 64 more.
  static bool size(ShardEntry& entry, const FilterParams& params, std::uint32_t slots) noexcept {
    entry.shape = entry.key_count < 600 ? 5 : entry.key_count < 3000 ? 6 : entry.key_count < 7000 ? 7 : 8;
    const std::uint32_t segments = slots >> entry.shape;
    if (segments < params.hash_count) return false;
    entry.block_count = static_cast<std::uint16_t>(segments - params.hash_count + 1U);
    const std::uint32_t hundredths = params.hash_count == 3 ? 125 : 121;
    return (segments << entry.shape) * 100 >= entry.key_count * hundredths + 6400;
  }
};

}  // namespace keysieve
