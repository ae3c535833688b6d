// What builders of kinds whose keys set all their bits in one block of the shard have in common.
#pragma once

#include "core/worker/filters/blocks.hpp"

namespace keysieve {

template <typename Bits>
struct BlockBuilder : Bits {
  static std::byte* block_of(std::byte* shard, const FilterParams& params, std::uint64_t mixed) noexcept {
    return shard + Bits::block_offset(64 - std::countr_zero(params.shard_bytes), mixed);
  }

  static std::uint32_t cache_lines(const FilterParams& /*params*/, double /*keys_per_shard*/) noexcept {
    return 1;
  }
};

}  // namespace keysieve
