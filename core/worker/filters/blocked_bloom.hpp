// Blocked Bloom filter: all k bits of a key are in one 512-bit block, so a lookup touches one cache line.
// Source: Putze, Sanders, Singler, "Cache-, hash- and space-efficient Bloom filters" (2007).
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "core/worker/filters/bit_kind.hpp"

namespace keysieve {

struct BlockedBloom : Blocks<64> {
  static constexpr std::uint8_t kId = 3;
  static constexpr std::string_view kName = "blocked_bloom";
  static constexpr auto& kHashCounts = kCounts<1, 20>;  // 20 is the best k for 1e-8

  // The topmost bits of `mixed` choose the block. Each word of 32 bits gives eight bits: the first word is
  // the lower half of `mixed`, the next ones are the upper halves of mixed * G, mixed * G^2 and so on.
  static constexpr std::uint32_t kBitsOfWord = 8;

  // The place of bit i of a word in the block's 16 lanes of 32 bits. The word is multiplied by a salt: the
  // top 4 bits of the product are the lane, the next 5 the bit of the lane, counted from its topmost.
  // Counting that way, and using the salts from the last one on, saves two vector instructions.
  struct Place {
    static constexpr auto& kSalts = SplitBlock::kSalts;

    Place(std::uint32_t word, std::uint32_t i) noexcept : product_(word * kSalts[kBitsOfWord - 1 - i]) {}
    [[nodiscard]] bool is_set_in(const std::byte* block) const noexcept {
      return (load<std::uint32_t>(block + lane_offset()) << bit() & kTopBit) != 0;
    }
    [[nodiscard]] std::size_t lane_offset() const noexcept { return product_ >> 28 << 2; }
    // The bit of the lane.
    [[nodiscard]] std::uint32_t mask() const noexcept { return kTopBit >> bit(); }

   private:
    static constexpr std::uint32_t kTopBit = std::uint32_t{1} << 31;

    [[nodiscard]] std::uint32_t bit() const noexcept { return product_ >> 23 & 31; }

    std::uint32_t product_;
  };

  // Whether `all_set(word, bits)` is true for all words; `bits` is the number of bits that come from the
  // word.
  template <typename AllSet>
  static bool of_all_words(const FilterParams& params, std::uint64_t mixed, AllSet all_set) noexcept {
    std::uint32_t bits = params.hash_count;
    if (!all_set(static_cast<std::uint32_t>(mixed), std::min(bits, kBitsOfWord))) return false;
    while (bits > kBitsOfWord) {
      bits -= kBitsOfWord;
      if (!all_set(static_cast<std::uint32_t>((mixed *= kG) >> 32), std::min(bits, kBitsOfWord)))
        return false;
    }
    return true;
  }

  static bool check(const std::byte* block, const FilterParams& params, std::uint64_t mixed) noexcept {
    return of_all_words(params, mixed, [block](std::uint32_t word, std::uint32_t bits) {
      for (std::uint32_t i = 0; i < bits; ++i) {
        if (!Place(word, i).is_set_in(block)) return false;
      }
      return true;
    });
  }

#if KEYSIEVE_X86_64
  struct Avx2;
#elif KEYSIEVE_AARCH64
  struct Neon;
#endif
};

#if KEYSIEVE_X86_64
// Uses a lane of 32 bits for each bit of a word.
struct BlockedBloom::Avx2 : BlockedBloom {
  KEYSIEVE_AVX2 static bool check(const std::byte* block, const FilterParams& params,
                                  std::uint64_t mixed) noexcept {
    const std::uint32_t bits = params.hash_count;
    return all_set(block, static_cast<std::uint32_t>(mixed), bits) &&
           (bits <= kBitsOfWord || others_set(block, mixed, bits));
  }

 private:
  // A separate function, so that the usual k need no loop.
  KEYSIEVE_AVX2 [[gnu::noinline]] static bool others_set(const std::byte* block, std::uint64_t mixed,
                                                         std::uint32_t bits) noexcept {
    do {
      bits -= kBitsOfWord;
      if (!all_set(block, static_cast<std::uint32_t>((mixed *= kG) >> 32), bits)) return false;
    } while (bits > kBitsOfWord);
    return true;
  }

  // Whether the first `bits` bits of the word are set, or all eight.
  KEYSIEVE_AVX2 static bool all_set(const std::byte* block, std::uint32_t word, std::uint32_t bits) noexcept {
    const __m256i places =
        _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(word)), load(Place::kSalts.data()));
    const __m256i lane = _mm256_srli_epi32(places, 32 - 4);  // the permutations use the lower 3 bits
    const __m256 first = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(load(block), lane));
    const __m256 second =
        _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(load(block + kBlockBytes / 2), lane));
    const __m256i chosen = _mm256_castps_si256(_mm256_blendv_ps(first, second, _mm256_castsi256_ps(places)));
    const __m256i bit = _mm256_srli_epi32(_mm256_slli_epi32(places, 4), 32 - 5);
    const __m256i tested = _mm256_sllv_epi32(chosen, bit);
    const __m256i wanted = load(kWanted.data() + bits);
    return _mm256_testc_ps(_mm256_castsi256_ps(tested), _mm256_castsi256_ps(wanted)) != 0;
  }

  // Eight lanes read from index n have their last n set; from 8 on all eight.
  static constexpr auto kWanted = [] {
    std::array<std::uint32_t, kHashCounts.back() + kBitsOfWord> lanes{};
    std::fill(lanes.begin() + kBitsOfWord, lanes.end(), ~std::uint32_t{0});
    return lanes;
  }();

  template <typename Element>
  KEYSIEVE_AVX2 static __m256i load(const Element* address) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(address));
  }
};
#elif KEYSIEVE_AARCH64
// Keeps the block in four registers, from which one table lookup takes the bytes of all bits of a word.
struct BlockedBloom::Neon : BlockedBloom {
  static bool check(const std::byte* block, const FilterParams& params, std::uint64_t mixed) noexcept {
    const uint8x16x4_t bytes = vld1q_u8_x4(reinterpret_cast<const std::uint8_t*>(block));
    return of_all_words(params, mixed, [&bytes](std::uint32_t word, std::uint32_t bits) {
      const std::uint64_t wanted = kTopBits << (64 - 8 * bits);  // of the last `bits` bytes
      return (tested_bits(bytes, word) & wanted) == wanted;
    });
  }

 private:
  static constexpr std::uint64_t kTopBits = 0x8080808080808080;

  // A byte for each bit of the word, in the order of the salts; the bit is the topmost one of its byte.
  static std::uint64_t tested_bits(const uint8x16x4_t& bytes, std::uint32_t word) noexcept {
    const uint32x4_t first = vmulq_n_u32(vld1q_u32(Place::kSalts.data()), word);
    const uint32x4_t second = vmulq_n_u32(vld1q_u32(Place::kSalts.data() + 4), word);
    // The upper halves of the products: 4 bits for the lane, 2 for the byte of the lane, 3 for the bit of the
    // byte. Bytes and bits are counted from the topmost one, but the bytes of the table from the lowest one.
    const uint16x8_t places = vuzp2q_u16(vreinterpretq_u16_u32(first), vreinterpretq_u16_u32(second));
    const uint8x8_t byte = veor_u8(vshr_n_u8(vshrn_n_u16(places, 8), 2), vdup_n_u8(3));
    const uint8x8_t bit = vand_u8(vshrn_n_u16(places, 7), vdup_n_u8(7));
    const uint8x8_t tested = vshl_u8(vqtbl4_u8(bytes, byte), vreinterpret_s8_u8(bit));
    return vget_lane_u64(vreinterpret_u64_u8(tested), 0);
  }
};
#endif

}  // namespace keysieve
