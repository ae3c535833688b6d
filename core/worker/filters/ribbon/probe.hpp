// Looks one key up in a ribbon shard: compares the columns of its window, eight at once.
#pragma once

#include <array>
#include <bit>

#include "core/worker/filters/instruction_set.hpp"
#include "core/worker/filters/ribbon/layout.hpp"
#include "core/worker/filters/ribbon/row.hpp"

#if KEYSIEVE_X86_64
#include <immintrin.h>
#endif

namespace keysieve::ribbon {

inline constexpr std::uint32_t kGroup = 8;  // columns that are compared at once

// Whether the short column agrees, for a key that has passed the others. False for every key of a shard
// without keys. In a function of its own, because few absent keys get here; `used`, so that gcc passes
// references and not what they refer to: for so many arguments every lookup would need the stack.
[[gnu::noinline, gnu::used]] inline bool passes_short_column(const ShardArray& array, const ShardEntry& entry,
                                                             const std::byte* window, RowHash hash,
                                                             std::uint32_t block) noexcept {
  const std::uint64_t columns = entry.width;
  const std::byte* const shard = window - block * columns;
  // Where the window is in the short column, unless that ends before it, with the shard.
  const std::uint64_t at = entry.block_count * columns + block;
  const std::uint64_t last = array.params.shard_bytes - kWindowBlocks;
  const auto odd =
      static_cast<std::uint64_t>(__builtin_parityll(load<Row>(shard + std::min(at, last)) & hash.row()));
  const bool is_wrong = ((odd ^ std::uint64_t{hash.fingerprint()} >> columns) & 1) != 0;
  // No branch, because it would be mispredicted for many keys of the set.
  return (entry.key_count != 0) & !(is_wrong & (at <= last) & (columns != 0));
}

// All columns of a shard that has more than kGroup. Inlined into a function of each kernel.
template <typename Kernel>
[[gnu::always_inline]] inline bool passes_groups(const ShardArray& array, const ShardEntry& entry,
                                                 const std::byte* window, RowHash hash,
                                                 std::uint32_t block) noexcept {
  const std::byte* group = window;
  std::uint32_t fingerprint = hash.fingerprint();
  for (std::uint32_t left = entry.width; left > 0; group += kGroup, fingerprint >>= kGroup) {
    const std::uint32_t wrong = Kernel::group_parities(group, entry.width, hash.row()) ^ fingerprint;
    const std::uint32_t compared = std::min(left, kGroup);
    if ((wrong & ((1U << compared) - 1)) != 0) return false;
    left -= compared;
  }
  return passes_short_column(array, entry, window, hash, block);
}

// Kernels compute what a row gives in each column of a group: bit j belongs to column j. `group` is the
// group's first byte in the window's first block, `columns` the bytes of a block. Eight bytes are read of
// each block, however few columns the group has. parities() is for shards with a single group.
struct ScalarKernel {
  static std::uint32_t parities(const std::byte* window, std::uint64_t columns, Row row) noexcept {
    return group_parities(window, columns, row);
  }
  static std::uint32_t group_parities(const std::byte* group, std::uint64_t columns, Row row) noexcept {
    constexpr std::uint64_t kLowBits = 0x0101010101010101;  // of each byte
    constexpr std::uint64_t kGather = 0x0102040810204080;   // brings them together in the top byte
    std::uint64_t sum = 0;
    for (int i = 0; i < kWindowBlocks; ++i, group += columns, row >>= 8) {
      sum ^= load<std::uint64_t>(group) & (row & 0xff) * kLowBits;
    }
    sum ^= sum >> 4;
    sum ^= sum >> 2;
    sum ^= sum >> 1;
    return static_cast<std::uint32_t>((sum & kLowBits) * kGather >> 56);
  }
  [[gnu::noinline, gnu::used]] static bool passes_all_groups(const ShardArray& array, const ShardEntry& entry,
                                                             const std::byte* window, RowHash hash,
                                                             std::uint32_t block) noexcept {
    return passes_groups<ScalarKernel>(array, entry, window, hash, block);
  }
};

#if KEYSIEVE_X86_64
// Four blocks in a register.
struct Avx2Kernel {
  // Two blocks of at most eight columns fit into sixteen bytes.
  KEYSIEVE_AVX2 static std::uint32_t parities(const std::byte* window, std::uint64_t columns,
                                              Row row) noexcept {
    // Which bytes of a pair of blocks go where, so that each block has eight.
    const __m256i second_only = _mm256_set_epi64x(-1, 0, -1, 0);
    const __m256i spread =
        _mm256_add_epi8(_mm256_set1_epi64x(0x0706050403020100),
                        _mm256_and_si256(_mm256_set1_epi8(static_cast<char>(columns)), second_only));
    const std::uint64_t pair = 2 * columns;
    const std::byte* const next = window + pair;
    return parities_of(_mm256_shuffle_epi8(pairs(window, next), spread),
                       _mm256_shuffle_epi8(pairs(window + 2 * pair, next + 2 * pair), spread), row);
  }
  KEYSIEVE_AVX2 static std::uint32_t group_parities(const std::byte* group, std::uint64_t columns,
                                                    Row row) noexcept {
    return parities_of(four_blocks(group, columns), four_blocks(group + 4 * columns, columns), row);
  }
  KEYSIEVE_AVX2 [[gnu::noinline, gnu::used]] static bool passes_all_groups(const ShardArray& array,
                                                                           const ShardEntry& entry,
                                                                           const std::byte* window,
                                                                           RowHash hash,
                                                                           std::uint32_t block) noexcept {
    return passes_groups<Avx2Kernel>(array, entry, window, hash, block);
  }

 private:
  KEYSIEVE_AVX2 static std::uint32_t parities_of(__m256i first, __m256i last, Row row) noexcept {
    const __m256i rows = _mm256_set1_epi64x(static_cast<long long>(row));
    const __m256i both = _mm256_xor_si256(_mm256_and_si256(first, _mm256_shuffle_epi8(rows, bytes(0))),
                                          _mm256_and_si256(last, _mm256_shuffle_epi8(rows, bytes(4))));
    __m128i sum = _mm_xor_si128(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
    sum = _mm_xor_si128(sum, _mm_unpackhi_epi64(sum, sum));
    sum = _mm_xor_si128(sum, _mm_slli_epi16(sum, 4));
    sum = _mm_xor_si128(sum, _mm_slli_epi16(sum, 2));
    sum = _mm_xor_si128(sum, _mm_slli_epi16(sum, 1));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(sum));
  }
  // A byte of the row for each block of four, from the one of number `first` on.
  KEYSIEVE_AVX2 static __m256i bytes(int first) noexcept {
    constexpr long long kEach = 0x0101010101010101;
    return _mm256_set_epi64x(kEach * (first + 3), kEach * (first + 2), kEach * (first + 1), kEach * first);
  }
  KEYSIEVE_AVX2 static __m256i four_blocks(const std::byte* group, std::uint64_t columns) noexcept {
    const auto block = [=](std::uint64_t i) { return load<long long>(group + i * columns); };
    return _mm256_set_epi64x(block(3), block(2), block(1), block(0));
  }
  KEYSIEVE_AVX2 static __m256i pairs(const std::byte* low, const std::byte* high) noexcept {
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(low))),
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(high)), 1);
  }
};
#endif

template <typename Kernel>
struct Probe {
  static constexpr bool kReadsEntry = true;

  const std::byte* window;  // the first block of the key's window
  RowHash hash;
  const ShardEntry* entry;
  std::uint32_t block;  // its number

  [[gnu::always_inline]] inline void prepare(const ShardArray& array, KeyHash key) noexcept {
    hash = RowHash(key);
    const std::uint64_t index = array.index_of(key);
    entry = array.entries + index;
    block = Line(entry->block_count, entry->shape).block_of(hash.position(entry->seed));
    window = array.shard(index) + std::size_t{block} * entry->width;
  }

  [[gnu::always_inline]] inline void prefetch(const ShardArray& /*array*/, KeyHash /*key*/) const noexcept {
    const std::uint32_t bytes = kWindowBlocks * entry->width;
    for (std::uint32_t at = 0; at < bytes; at += kCacheLineBytes) __builtin_prefetch(window + at);
    __builtin_prefetch(window + bytes);
  }

  [[nodiscard, gnu::always_inline]] inline bool may_contain(const ShardArray& array,
                                                            KeyHash /*key*/) const noexcept {
    const std::uint64_t columns = entry->width;
    if (columns > kGroup) return Kernel::passes_all_groups(array, *entry, window, hash, block);
    const std::uint64_t wrong = Kernel::parities(window, columns, hash.row()) ^ hash.fingerprint();
    return (wrong & ((std::uint64_t{1} << columns) - 1)) == 0 &&
           passes_short_column(array, *entry, window, hash, block);
  }
};

}  // namespace keysieve::ribbon
