// Split block Bloom filter: a 256-bit block of eight 32-bit lanes, one bit of a key in each lane. The fastest
// kind, and the default. Source: the Parquet format's Bloom filter; Apple, "Split block Bloom filters"
// (2021).
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "core/worker/filters/bit_kind.hpp"

namespace keysieve {

struct SplitBlockBloom : SplitBlock {
  static constexpr std::uint8_t kId = 4;
  static constexpr std::string_view kName = "split_block_bloom";
  static constexpr auto& kHashCounts = kCounts<kLanes>;

  static bool check(const std::byte* block, const FilterParams& /*params*/, std::uint64_t mixed) noexcept {
    return has_all_bits(
        mixed, [block](std::uint32_t lane) { return load<std::uint32_t>(block + lane * kLaneBytes); });
  }

#if KEYSIEVE_X86_64
  struct Avx2;
#elif KEYSIEVE_AARCH64
  struct Neon;
#endif
};

#if KEYSIEVE_X86_64
// Keeps the eight lanes in one register: and-not leaves the bits that the block lacks.
struct SplitBlockBloom::Avx2 : SplitBlockBloom {
  KEYSIEVE_AVX2 static bool check(const std::byte* block, const FilterParams& /*params*/,
                                  std::uint64_t mixed) noexcept {
    const __m256i salts = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kSalts.data()));
    const __m256i product = _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(mixed)), salts);
    // gcc would build a constant in a general register: three instructions.
    const __m256i one = _mm256_abs_epi32(_mm256_cmpeq_epi32(product, product));
    const __m256i bits = _mm256_sllv_epi32(one, _mm256_srli_epi32(product, 27));
    return _mm256_testc_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(block)), bits) != 0;
  }
};
#elif KEYSIEVE_AARCH64
// Keeps four lanes in a register: and-not leaves the bits that the block lacks.
struct SplitBlockBloom::Neon : SplitBlockBloom {
  static bool check(const std::byte* block, const FilterParams& /*params*/, std::uint64_t mixed) noexcept {
    const uint32x4_t missing = vorrq_u32(missing_bits(block, 0, mixed), missing_bits(block, 4, mixed));
    return vmaxvq_u32(missing) == 0;
  }

 private:
  // The key's bits that are not set in lanes `lane` to `lane` + 3.
  static uint32x4_t missing_bits(const std::byte* block, std::uint32_t lane, std::uint64_t mixed) noexcept {
    const uint32x4_t product =
        vmulq_n_u32(vld1q_u32(kSalts.data() + lane), static_cast<std::uint32_t>(mixed));
    const int32x4_t number = vreinterpretq_s32_u32(vshrq_n_u32(product, 27));
    const uint32x4_t bits = vshlq_u32(vdupq_n_u32(1), number);
    const uint8x16_t lanes = vld1q_u8(reinterpret_cast<const std::uint8_t*>(block + lane * kLaneBytes));
    return vbicq_u32(bits, vreinterpretq_u32_u8(lanes));
  }
};
#endif

}  // namespace keysieve
