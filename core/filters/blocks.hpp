// What a kind does whose keys set all their bits in one block of the shard: a lookup reads one cache line.
#pragma once

#include "core/filters/filter_kind.hpp"

namespace keysieve {

// Where one key is looked up: the address of its block, of which nothing has been read.
template <typename Policy>
struct BlockProbe {
  const std::byte* block;

  [[gnu::always_inline]] inline void prepare(const ShardArray& array, std::uint64_t index,
                                             KeyHash hash) noexcept {
    block = array.shard(index) + Policy::block_offset(array.offset_shift, hash.low);
  }
  [[gnu::always_inline]] inline void prefetch(const ShardArray& /*array*/, KeyHash /*hash*/) const noexcept {
    __builtin_prefetch(block);
  }
  [[nodiscard, gnu::always_inline]] inline bool may_contain(const ShardArray& array,
                                                            KeyHash hash) const noexcept {
    return Policy::may_contain(block, array.params, hash.low);
  }
};

// A power of two of bytes.
template <std::uint32_t kBytes>
struct Blocks {
  static constexpr std::uint32_t kBlockBytes = kBytes;

  template <typename Policy>
  using Probe = BlockProbe<Policy>;

  // Byte of the shard where a key's block begins: the topmost bits of `low` choose it.
  static constexpr std::uint64_t block_offset(int offset_shift, std::uint64_t low) noexcept {
    return low >> offset_shift & ~std::uint64_t{kBytes - 1};
  }

  static std::byte* block_of(std::byte* shard, const FilterParams& params, std::uint64_t low) noexcept {
    return shard + block_offset(64 - std::countr_zero(params.shard_bytes), low);
  }

  static std::uint32_t cache_lines(const FilterParams& /*params*/, double /*keys_per_shard*/) noexcept {
    return 1;
  }
};

}  // namespace keysieve
