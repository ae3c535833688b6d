// A word of 128 bits, all that one key needs of a filter: one atomic read-modify-write both looks and adds,
// so of all processes that add a key exactly one finds it missing. Bits are only ever set.
#pragma once

#include <atomic>

#include "core/hash/key_hash.hpp"

namespace keysieve {

inline constexpr unsigned kWordBits = 128;

// Whether this machine has an atomic read-modify-write of 16 bytes. A library's locks would not do: they
// belong to one process.
#if defined(__x86_64__) || defined(__aarch64__)
inline constexpr bool kHasWideAtomics = true;
#else
inline constexpr bool kHasWideAtomics = false;
#endif

struct WordMask {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  friend bool operator==(const WordMask&, const WordMask&) = default;
};

// A hash has nine positions of seven bits; a second one is made of it for the others.
inline constexpr unsigned kPositionsPerHash = 9;
inline constexpr unsigned kMaxKeyBits = 2 * kPositionsPerHash;

// The bits of a key, 1 to kMaxKeyBits positions. They are independent, so two may coincide: then a word of
// which b bits are set contains an absent key with probability (b / 128)^bits, exactly.
inline WordMask word_mask(KeyHash hash, unsigned bits) noexcept {
  std::uint64_t positions = remix(hash);
  WordMask mask;
  for (unsigned i = 0; i < bits; ++i) {
    if (i == kPositionsPerHash) positions = fold(remix(hash), kA);
    const std::uint64_t bit = std::uint64_t{1} << (positions & 63);
    const std::uint64_t is_high = (positions >> 6 & 1);
    mask.low |= bit & (is_high - 1);
    mask.high |= bit & (0 - is_high);
    positions >>= 7;
  }
  return mask;
}

struct alignas(16) Word {
  std::atomic<std::uint64_t> low;
  std::atomic<std::uint64_t> high;

  // Acquire: pairs with fetch_or(). Two loads, since bits are only ever set.
  [[nodiscard]] bool contains(const WordMask& mask) const noexcept {
    const std::uint64_t missing = (mask.low & ~low.load(std::memory_order_acquire)) |
                                  (mask.high & ~high.load(std::memory_order_acquire));
    return missing == 0;
  }

  // Sets the bits, and returns those that were set before: a full barrier, lock-free.
  WordMask fetch_or(const WordMask& mask) noexcept;
};
static_assert(sizeof(Word) == 16 && std::atomic<std::uint64_t>::is_always_lock_free);

// In assembly: gcc calls libatomic for 16 bytes, which is one more library and picks its method only at run
// time.
inline WordMask Word::fetch_or(const WordMask& mask) noexcept {
  WordMask before;
#if defined(__x86_64__)
  before = {low.load(std::memory_order_relaxed), high.load(std::memory_order_relaxed)};
  for (;;) {
    bool is_done = false;
    __asm__ __volatile__("lock cmpxchg16b %1"
                         : "=@ccz"(is_done), "+m"(*this), "+a"(before.low), "+d"(before.high)
                         : "b"(before.low | mask.low), "c"(before.high | mask.high)
                         : "memory");
    if (is_done) return before;
  }
#elif defined(__aarch64__)
  std::uint64_t after_low = 0;
  std::uint64_t after_high = 0;
  std::uint32_t has_failed = 0;
  __asm__ __volatile__(
      "1: ldaxp %0, %1, %5\n"
      "orr %2, %0, %6\n"
      "orr %3, %1, %7\n"
      "stlxp %w4, %2, %3, %5\n"
      "cbnz %w4, 1b\n"
      : "=&r"(before.low), "=&r"(before.high), "=&r"(after_low), "=&r"(after_high), "=&r"(has_failed),
        "+Q"(*this)
      : "r"(mask.low), "r"(mask.high)
      : "memory");
#else
  static_cast<void>(mask);
  __builtin_trap();  // SeenWriter makes no set on such a machine
#endif
  return before;
}

}  // namespace keysieve
