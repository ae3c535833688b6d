// Sets bits and packed numbers in a stretch of a shard: positions as in core/worker/filters/bits.hpp, and not
// checked either. One thread per shard.
#pragma once

#include "core/worker/filters/bits.hpp"

namespace keysieve {

inline void set_bit(std::byte* bytes, std::uint64_t position) noexcept {
  bytes[position / 8] |= std::byte{1} << (position % 8);
}

// `value`: at most fields.greatest(). Changes no other field.
inline void set_field(std::byte* shard, const PackedFields& fields, std::uint32_t index,
                      std::uint32_t value) noexcept {
  const std::uint32_t word = fields.word_of(index);
  const std::uint32_t shift = index * fields.width() - 8 * word;
  const auto before = load<std::uint64_t>(shard + word) & ~(std::uint64_t{fields.greatest()} << shift);
  store(shard + word, before | std::uint64_t{value} << shift);
}

}  // namespace keysieve
