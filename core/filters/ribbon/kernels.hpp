// Compares the columns of a window with vector instructions: a lane per column. Loads are masked, so that
// nothing is read beyond the columns of the last block, which may end with the mapping.
#pragma once

#include "core/filters/instruction_set.hpp"
#include "core/filters/ribbon/probe.hpp"

#if KEYSIEVE_X86_64
#include <immintrin.h>

namespace keysieve::ribbon {

inline std::uint32_t coefficients(Row row, int word) noexcept {
  return static_cast<std::uint32_t>(row >> word * static_cast<int>(kBlockSlots));
}

struct Avx2Kernel {
  static constexpr std::uint32_t kLanes = 8;

  KEYSIEVE_AVX2 static bool first_pass(const std::byte* first, std::uint32_t columns, std::uint32_t skip,
                                       Row row, std::uint32_t fingerprint) noexcept {
    return lanes_pass(first, columns, columns, skip, row, fingerprint);
  }

  KEYSIEVE_AVX2 static bool others_pass(const std::byte* first, std::uint32_t columns, std::uint32_t skip,
                                        Row row, std::uint32_t fingerprint) noexcept {
    for (std::uint32_t done = kLanes; done < columns; done += kLanes) {
      if (!lanes_pass(first + bytes_of_words(done), columns - done, columns, skip, row, fingerprint >> done))
        return false;
    }
    return true;
  }

 private:
  // Checks the next `wanted` columns, as far as there are lanes for them.
  KEYSIEVE_AVX2 static bool lanes_pass(const std::byte* word, std::uint32_t wanted, std::uint32_t columns,
                                       std::uint32_t skip, Row row, std::uint32_t fingerprint) noexcept {
    const __m128i right = _mm_cvtsi32_si128(static_cast<int>(skip));
    const __m128i left = _mm_cvtsi32_si128(static_cast<int>(kBlockSlots - skip));
    const std::uint32_t lanes = std::min(wanted, kLanes);
    const __m256i mask = mask_of(lanes);
    __m256i sum = _mm256_setzero_si256();
    __m256i slots = load(word, mask);
    for (int i = 0; i < kWindow / static_cast<int>(kBlockSlots); ++i) {
      word += bytes_of_words(columns);
      const __m256i next = load(word, mask);
      const __m256i window = _mm256_or_si256(_mm256_srl_epi32(slots, right), _mm256_sll_epi32(next, left));
      const __m256i chosen = _mm256_set1_epi32(static_cast<int>(coefficients(row, i)));
      sum = _mm256_xor_si256(sum, _mm256_and_si256(window, chosen));
      slots = next;
    }
    return _bzhi_u32(parities(sum) ^ fingerprint, lanes) == 0;
  }
  KEYSIEVE_AVX2 static __m256i load(const std::byte* word, __m256i mask) noexcept {
    return _mm256_maskload_epi32(reinterpret_cast<const int*>(word), mask);
  }

  KEYSIEVE_AVX2 static __m256i mask_of(std::uint32_t lanes) noexcept {
    alignas(32) static constexpr std::array<std::int32_t, std::size_t{2} * kLanes> kMasks{-1, -1, -1, -1,
                                                                                          -1, -1, -1, -1};
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kMasks.data() + (kLanes - lanes)));
  }

  // The topmost bit of each lane collects the parity of the others.
  KEYSIEVE_AVX2 static std::uint32_t parities(__m256i sum) noexcept {
    sum = _mm256_xor_si256(sum, _mm256_slli_epi32(sum, 16));
    sum = _mm256_xor_si256(sum, _mm256_slli_epi32(sum, 8));
    sum = _mm256_xor_si256(sum, _mm256_slli_epi32(sum, 4));
    sum = _mm256_xor_si256(sum, _mm256_slli_epi32(sum, 2));
    sum = _mm256_xor_si256(sum, _mm256_slli_epi32(sum, 1));
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(sum)));
  }
};

}  // namespace keysieve::ribbon
#endif
