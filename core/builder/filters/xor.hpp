// What builds xor filters.
#pragma once

#include "core/builder/filters/peeled_builder.hpp"
#include "core/worker/filters/xor.hpp"

namespace keysieve {

struct XorBuilder : Xor {
  static constexpr std::string_view kSummary = "fingerprint over three positions: for comparison";
  static constexpr bool kIsUsual = false;

  // 1.23 slots per key, as in the source, and 32 more.
  static bool size(ShardEntry& entry, const FilterParams& /*params*/, std::uint32_t slots) noexcept {
    entry.block_count = static_cast<std::uint16_t>(slots / 3);
    return 3 * (slots / 3) * 100 >= entry.key_count * 123U + 3200;
  }
};

}  // namespace keysieve
