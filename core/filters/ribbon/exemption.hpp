// Which keys need not pass the last column. A fixed share of all keys is exempt, members or not, so more
// absent keys get past it. But a seed per group of neighbouring keys decides which ones, and the builder
// takes the one of 256 seeds that exempts the most members. The last column then has to hold fewer keys than
// its false-positive rate suggests. Saves 0.05 bits per key at 1 %.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/filters/instruction_set.hpp"
#include "core/hash/key_hash.hpp"

namespace keysieve::ribbon {

inline constexpr std::uint32_t kExemptionSeeds = 256;
inline constexpr std::uint32_t kWholeShare = 256;  // shares count in 1 / 256

namespace detail {

// Odd numbers of 16 bits, made with the finaliser of MurmurHash3.
constexpr std::uint16_t multiplier_of(std::uint32_t seed) {
  std::uint64_t x = (seed + 1) * kG;
  x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD;
  x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53;
  return static_cast<std::uint16_t>(x >> 40 | 1);
}

constexpr std::array<std::uint16_t, kExemptionSeeds> all_multipliers() {
  std::array<std::uint16_t, kExemptionSeeds> multipliers{};
  for (std::uint32_t seed = 0; seed < kExemptionSeeds; ++seed) multipliers[seed] = multiplier_of(seed);
  return multipliers;
}

}  // namespace detail

inline constexpr auto kMultipliers = detail::all_multipliers();

// `number`: RowHash::exemption() of the key.
inline bool is_exempt(std::uint16_t number, std::uint8_t seed, std::uint32_t share) noexcept {
  const std::uint32_t product = std::uint32_t{number} * kMultipliers[seed] & 0xffff;
  return product < share * (0x10000 / kWholeShare);
}

// The lowest share that should leave at most `slots` of `keys` keys to the last column, with that many
// groups. The best of 256 seeds exempts 2.82 standard deviations more of a group than its share: the mean of
// the highest of 256 normal numbers. In integers, so that every machine builds the same bytes.
inline std::uint32_t share_for(std::uint64_t keys, std::uint64_t groups, std::uint64_t slots) noexcept {
  std::uint32_t share = 0;
  for (std::uint32_t step = kWholeShare / 2; step != 0; step /= 2) {
    const std::uint64_t exempt = share + step - 1;
    const std::uint64_t not_exempt = kWholeShare - exempt;
    if (keys * not_exempt <= slots * kWholeShare) continue;
    const std::uint64_t excess = keys * not_exempt - slots * kWholeShare;
    const std::uint64_t variance = keys * groups * exempt * not_exempt;
    if (excess * excess * 100 > variance * 795) share += step;  // 7.95 = 2.82^2
  }
  return share;
}

namespace detail {

// A fixed number of 16-bit products and comparisons per key, which compilers turn into vector instructions.
[[gnu::always_inline]] inline std::uint8_t best_seed_of(std::span<const std::uint16_t> numbers,
                                                        std::uint32_t share) noexcept {
  std::array<std::uint16_t, kExemptionSeeds> counts{};
  const auto below = static_cast<std::uint16_t>(share * (0x10000 / kWholeShare));
  for (const std::uint16_t number : numbers) {
    for (std::uint32_t seed = 0; seed < kExemptionSeeds; ++seed) {
      const auto product = static_cast<std::uint16_t>(std::uint32_t{number} * kMultipliers[seed]);
      counts[seed] = static_cast<std::uint16_t>(counts[seed] + (product < below));
    }
  }
  return static_cast<std::uint8_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

#if KEYSIEVE_X86_64
KEYSIEVE_AVX2 inline std::uint8_t best_seed_avx2(std::span<const std::uint16_t> numbers,
                                                 std::uint32_t share) noexcept {
  return best_seed_of(numbers, share);
}
#endif

}  // namespace detail

// The seed that exempts the most keys of a group; the lowest if several do.
inline std::uint8_t best_seed(std::span<const std::uint16_t> numbers, std::uint32_t share) noexcept {
#if KEYSIEVE_X86_64
  if (best_instruction_set() != InstructionSet::Scalar) return detail::best_seed_avx2(numbers, share);
#endif
  return detail::best_seed_of(numbers, share);
}

}  // namespace keysieve::ribbon
