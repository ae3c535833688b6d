// What builds classic Bloom filters.
#pragma once

#include "core/builder/filters/bit_builder.hpp"
#include "core/worker/filters/bloom.hpp"

namespace keysieve {

struct BloomBuilder : ScatteredBitsBuilder<Bloom> {
  static constexpr std::string_view kSummary = "classic: k bits anywhere in the shard";
  static constexpr bool kIsUsual = true;
};

}  // namespace keysieve
