// Looks one key up in a ribbon shard of a map. The first columns of a key's window are its fingerprint, the
// next ones its value. All of them are computed in one walk through the rows of the window. The short column
// is one more of the fingerprint.
#pragma once

#include "core/worker/filters/ribbon/probe.hpp"

namespace keysieve::ribbon {

inline constexpr std::uint32_t kWide = 32;  // columns that one walk computes

// As kernels of sets, for up to kWide columns: bit j belongs to column j. 32 bytes are read of each block.
struct ScalarMapKernel {
  static std::uint32_t parities(const std::byte* window, std::uint64_t columns, Row row) noexcept {
    std::uint32_t bits = 0;
    for (std::uint32_t at = 0; at < kWide && at < columns; at += kGroup) {
      bits |= ScalarKernel::group_parities(window + at, columns, row) << at;
    }
    return bits;
  }
};

#if KEYSIEVE_X86_64
struct Avx2MapKernel {
  KEYSIEVE_AVX2 static std::uint32_t parities(const std::byte* window, std::uint64_t columns,
                                              Row row) noexcept {
    __m256i sum = _mm256_setzero_si256();
    for (int i = 0; i < kWindowBlocks; ++i, window += columns, row >>= 8) {
      const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(window));
      sum = _mm256_xor_si256(sum, _mm256_and_si256(block, _mm256_set1_epi8(static_cast<char>(row))));
    }
    sum = _mm256_xor_si256(sum, _mm256_slli_epi16(sum, 4));
    sum = _mm256_xor_si256(sum, _mm256_slli_epi16(sum, 2));
    sum = _mm256_xor_si256(sum, _mm256_slli_epi16(sum, 1));
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(sum));
  }
};
#endif

template <typename Kernel>
struct MapProbe : Probe<Kernel> {
  using Probe<Kernel>::window;
  using Probe<Kernel>::hash;
  using Probe<Kernel>::entry;
  using Probe<Kernel>::block;

  [[nodiscard, gnu::always_inline]] inline MapAnswer find(const ShardArray& array) const noexcept {
    if (entry->key_count == 0) return kAbsent;
    const std::uint64_t columns = entry->width;
    const std::uint32_t value_bits = array.params.value_bits;
    const std::uint64_t compared = columns - value_bits;
    std::uint64_t bits = Kernel::parities(window, columns, hash.row());
    if (columns > kWide)
      bits |= std::uint64_t{Kernel::parities(window + kWide, columns, hash.row())} << kWide;
    const std::uint64_t fingerprint = hash.fingerprint();
    if (((bits ^ fingerprint) & ((std::uint64_t{1} << compared) - 1)) != 0) return kAbsent;
    if (is_wrong_in_short_column(array, fingerprint >> compared)) return kAbsent;
    return bits >> compared & ((std::uint64_t{1} << value_bits) - 1);
  }

  [[nodiscard, gnu::always_inline]] inline bool may_contain(const ShardArray& array,
                                                            KeyHash /*key*/) const noexcept {
    return find(array) != kAbsent;
  }

 private:
  // False if the key's window is not there.
  [[nodiscard, gnu::always_inline]] inline bool is_wrong_in_short_column(const ShardArray& array,
                                                                         std::uint64_t bit) const noexcept {
    const std::uint64_t columns = entry->width;
    const std::byte* const shard = window - block * columns;
    const std::uint64_t at = entry->block_count * columns + block;
    const std::uint64_t last = array.params.shard_bytes - kWindowBlocks;
    const auto odd =
        static_cast<std::uint64_t>(__builtin_parityll(load<Row>(shard + std::min(at, last)) & hash.row()));
    return ((odd ^ bit) & 1 & static_cast<std::uint64_t>(at <= last)) != 0;
  }
};

}  // namespace keysieve::ribbon
