// Blocked Bloom filter: all k bits of a key in one 512-bit block, so a lookup touches one cache line.
// Source: Putze, Sanders, Singler, "Cache-, hash- and space-efficient Bloom filters" (2007).
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/filters/bit_kind.hpp"
#include "core/filters/blocks.hpp"

namespace keysieve {

struct BlockedBloom : Blocks<64> {
  static constexpr std::uint8_t kId = 3;
  static constexpr std::string_view kName = "blocked_bloom";
  static constexpr std::string_view kSummary = "k bits in one cache line: one line per lookup at fewer bits";
  static constexpr auto& kHashCountChoice = kBloomHashCounts;

  // The topmost bits of `low` choose the block; bit i is the top 9 bits of low * G^i. The multiplication
  // carries every lower bit into the top ones, so the bits do not follow from the block.
  static constexpr int kBitShift = 64 - 9;

  static void add(std::byte* shard, const FilterParams& params, std::uint64_t low) noexcept {
    std::byte* block = block_of(shard, params, low);
    for (int i = 0; i < params.hash_count; ++i) set_bit(block, (low *= kG) >> kBitShift);
  }

  static bool may_contain(const std::byte* block, const FilterParams& params, std::uint64_t low) noexcept {
    for (int i = 0; i < params.hash_count; ++i) {
      if (!test_bit(block, (low *= kG) >> kBitShift)) return false;
    }
    return true;
  }

#if KEYSIEVE_X86_64
  struct Avx2;
  struct Avx512;
#endif

  static double theoretical_fpr(const FilterParams& params, double keys_per_shard) {
    const double k = params.hash_count;
    const double keys_per_block = keys_per_shard * kBlockBytes / params.shard_bytes;
    return poisson_mean(keys_per_block,
                        [=](double keys) { return chance_all_set(8.0 * kBlockBytes, keys * k, k); });
  }

  static double estimated_fpr(Bytes shard, const FilterParams& params) {
    double sum = 0.0;
    for (std::size_t at = 0; at < shard.size(); at += kBlockBytes) {
      sum += std::pow(fill_ratio(shard.subspan(at, kBlockBytes)), params.hash_count);
    }
    return sum * kBlockBytes / static_cast<double>(shard.size());
  }
};

#if KEYSIEVE_X86_64
namespace detail {

// Bits of a key that are looked up at once; most sets have a lower k.
inline constexpr std::uint32_t kAtOnce = 8;

// G^1, G^2 and so on, and their halves.
struct Powers {
  static constexpr std::size_t kCount =
      24 + 1;  // the odd lanes of the last eight are loaded from one further on
  std::array<std::uint64_t, kCount> whole{};
  std::array<std::uint32_t, kCount> low{};
  std::array<std::uint32_t, kCount> high{};

  constexpr Powers() {
    std::uint64_t power = 1;
    for (std::size_t i = 0; i < kCount; ++i) {
      whole[i] = power *= kG;
      low[i] = static_cast<std::uint32_t>(power);
      high[i] = static_cast<std::uint32_t>(power >> 32);
    }
  }
};
inline constexpr Powers kPowers;
static_assert(kBloomHashCounts.back() < Powers::kCount);

}  // namespace detail

// A lane of 32 bits per bit of the key, which holds the upper half of low * G^i.
struct BlockedBloom::Avx2 : BlockedBloom {
  KEYSIEVE_AVX2 static bool may_contain(const std::byte* block, const FilterParams& params,
                                        std::uint64_t low) noexcept {
    return has_eight(block, low, 0, params.hash_count) &&
           (params.hash_count <= detail::kAtOnce || has_others(block, low, params.hash_count));
  }

 private:
  // Apart, so that the usual k need no loop.
  KEYSIEVE_AVX2 [[gnu::noinline]] static bool has_others(const std::byte* block, std::uint64_t low,
                                                         std::uint32_t k) noexcept {
    for (std::uint32_t done = detail::kAtOnce; done < k; done += detail::kAtOnce) {
      if (!has_eight(block, low, done, k)) return false;
    }
    return true;
  }

  // Whether those bits are set that come after the first `done`: eight, but none beyond k.
  KEYSIEVE_AVX2 static bool has_eight(const std::byte* block, std::uint64_t low, std::uint32_t done,
                                      std::uint32_t k) noexcept {
    const __m256i products = upper_halves(low, done);
    const __m256i word = _mm256_srli_epi32(products, 32 - 4);
    const __m256 first = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(load(block), word));
    const __m256 second =
        _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(load(block + kBlockBytes / 2), word));
    const __m256 chosen = _mm256_blendv_ps(first, second, _mm256_castsi256_ps(products));
    const __m256i bit = _mm256_srli_epi32(_mm256_slli_epi32(products, 4), 32 - 5);
    const __m256i tested = _mm256_slli_epi32(_mm256_srlv_epi32(_mm256_castps_si256(chosen), bit), 31);
    const auto set = static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(tested)));
    return _bzhi_u32(set ^ 0xff, k - done) == 0;
  }

  // Of low * G^i, whose topmost 9 bits are the place of bit i.
  KEYSIEVE_AVX2 static __m256i upper_halves(std::uint64_t low, std::uint32_t done) noexcept {
    const __m256i lower = _mm256_set1_epi32(static_cast<int>(low));
    const __m256i upper = _mm256_set1_epi32(static_cast<int>(low >> 32));
    const std::uint32_t* powers = detail::kPowers.low.data() + done;
    const __m256i even = _mm256_srli_epi64(_mm256_mul_epu32(lower, load(powers)), 32);
    const __m256i odd = _mm256_mul_epu32(lower, load(powers + 1));
    const __m256i carried = _mm256_blend_epi32(even, odd, 0b10101010);
    const __m256i crossed =
        _mm256_add_epi32(_mm256_mullo_epi32(lower, load(detail::kPowers.high.data() + done)),
                         _mm256_mullo_epi32(upper, load(powers)));
    return _mm256_add_epi32(carried, crossed);
  }

  template <typename Element>
  KEYSIEVE_AVX2 static __m256i load(const Element* address) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(address));
  }
};

// The block in one register, and a lane of 64 bits per bit of the key.
struct BlockedBloom::Avx512 : BlockedBloom {
  KEYSIEVE_AVX512 static bool may_contain(const std::byte* block, const FilterParams& params,
                                          std::uint64_t low) noexcept {
    return has_eight(block, low, 0, params.hash_count) &&
           (params.hash_count <= detail::kAtOnce || has_others(block, low, params.hash_count));
  }

 private:
  KEYSIEVE_AVX512 [[gnu::noinline]] static bool has_others(const std::byte* block, std::uint64_t low,
                                                           std::uint32_t k) noexcept {
    for (std::uint32_t done = detail::kAtOnce; done < k; done += detail::kAtOnce) {
      if (!has_eight(block, low, done, k)) return false;
    }
    return true;
  }

  KEYSIEVE_AVX512 static bool has_eight(const std::byte* block, std::uint64_t low, std::uint32_t done,
                                        std::uint32_t k) noexcept {
    constexpr __mmask8 kAll = 0xff;  // gcc 12 warns of what it leaves undefined without a mask
    const __m512i products = _mm512_mullo_epi64(_mm512_set1_epi64(static_cast<long long>(low)),
                                                _mm512_loadu_si512(detail::kPowers.whole.data() + done));
    const __m512i word = _mm512_maskz_srli_epi64(kAll, products, 64 - 3);
    const __m512i bit = _mm512_maskz_srli_epi64(kAll, products, kBitShift);  // taken modulo 64
    const __m512i chosen = _mm512_maskz_permutexvar_epi64(kAll, word, _mm512_loadu_si512(block));
    const __m512i tested = _mm512_maskz_rorv_epi64(kAll, chosen, bit);
    return _bzhi_u32(_mm512_testn_epi64_mask(tested, _mm512_set1_epi64(1)), k - done) == 0;
  }
};
#endif

}  // namespace keysieve
