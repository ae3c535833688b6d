// Further hashes of a key, made from the half of its KeyHash that a filter may use: for kinds that need more
// than 64 bits, or that try a build again with another seed.
#pragma once

#include <cstdint>

namespace keysieve {

__extension__ using Uint128 = unsigned __int128;

// Both halves of the product of two words, folded: every bit of the result depends on every bit of a.
inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
  const Uint128 product = static_cast<Uint128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// What hashes are multiplied by, as docs/filters.md names them. G is 2^64 divided by the golden ratio, the
// others are of the secret of wyhash; all are odd.
inline constexpr std::uint64_t kG = 0x9E3779B97F4A7C15;
inline constexpr std::uint64_t kA = 0xE7037ED1A0B428DB;
inline constexpr std::uint64_t kC = 0x589965CC75374CC3;
inline constexpr std::uint64_t kD = 0x1D8E4E27C47D124F;

// Another hash of the same key for every seed; the second number is of that secret too.
inline std::uint64_t remix(std::uint64_t low, std::uint8_t seed) noexcept {
  return fold(low ^ kG * seed, 0xA0761D6478BD642F);
}

// Where 32 bits of hash fall in [0, range). Source: Lemire, "Fast random integer generation in an interval"
// (2019).
inline std::uint32_t reduce(std::uint64_t hash32, std::uint32_t range) noexcept {
  return static_cast<std::uint32_t>((hash32 & 0xffffffff) * range >> 32);
}

}  // namespace keysieve
