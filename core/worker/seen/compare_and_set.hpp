// The one atomic operation on a word of a seen set (word.hpp): a compare-and-set of 16 bytes. In assembly,
// because gcc calls libatomic for it, which is one more library and picks its method only at run time.
#pragma once

#include <cstdint>

namespace keysieve {

// Whether this machine has it. A library's locks would not do: they belong to one process.
#if defined(__x86_64__) || defined(__aarch64__)
inline constexpr bool kHasWideAtomics = true;
#else
inline constexpr bool kHasWideAtomics = false;
#endif

// `at`: 16 bytes, aligned to 16. False if they are not `before`, or if others store there all the time:
// nothing has changed then, and nothing is ordered. True: sequentially consistent, as std::atomic's.
// Wait-free.
[[nodiscard]] inline bool compare_and_set_16_bytes(void* at, std::uint64_t before_low,
                                                   std::uint64_t before_high, std::uint64_t after_low,
                                                   std::uint64_t after_high) noexcept {
  struct alignas(16) Halves {
    std::uint64_t low;
    std::uint64_t high;
  };
  auto& halves = *static_cast<Halves*>(at);
#if defined(__x86_64__)
  bool is_done = false;
  __asm__ __volatile__("lock cmpxchg16b %1"
                       : "=@ccz"(is_done), "+m"(halves), "+a"(before_low), "+d"(before_high)
                       : "b"(after_low), "c"(after_high)
                       : "memory");
  return is_done;
#elif defined(__aarch64__)
  std::uint64_t low_half = 0;
  std::uint64_t high_half = 0;
  std::uint32_t has_failed = 0;
  std::uint32_t tries_left = 4096;  // a store is refused after an interrupt, or another store nearby
  __asm__ __volatile__(
      "1: ldaxp %0, %1, %4\n"
      "cmp %0, %5\n"
      "ccmp %1, %6, #0, eq\n"
      "mov %w2, #1\n"
      "b.ne 2f\n"
      "stlxp %w2, %7, %8, %4\n"
      "cbz %w2, 2f\n"
      "subs %w3, %w3, #1\n"
      "b.ne 1b\n"
      "2:\n"
      : "=&r"(low_half), "=&r"(high_half), "=&r"(has_failed), "+&r"(tries_left), "+Q"(halves)
      : "r"(before_low), "r"(before_high), "r"(after_low), "r"(after_high)
      : "memory", "cc");
  return has_failed == 0;
#else
  static_cast<void>(halves);
  static_cast<void>(before_low);
  static_cast<void>(before_high);
  static_cast<void>(after_low);
  static_cast<void>(after_high);
  __builtin_trap();  // SeenWriter makes no set on such a machine
#endif
}

}  // namespace keysieve
