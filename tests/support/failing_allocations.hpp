// Memory that runs out: replaces malloc and operator new of a process, so that chosen allocations fail. Part
// of the test programs that try it in themselves; a library that LD_PRELOAD puts before any other program.
#pragma once

#include <atomic>
#include <cstdint>

namespace keysieve::test {

// Allocations are counted from 1. A program with the library has these at the beginning of the file that
// KEYSIEVE_ALLOCATIONS names, and counts from main() on.
struct AllocationFaults {
  std::atomic<std::uint64_t> made{0};
  std::atomic<std::uint64_t> first{0};  // of those that fail; 0: none does
  std::atomic<std::uint64_t> last{0};
};

}  // namespace keysieve::test

extern "C" {
// Counts from 1. The allocation with that number fails, or if `lasts`, each from that one on.
void begin_failing_allocations(std::uint64_t number, bool lasts) noexcept;
// None fails any more. Returns how many were made since, failed ones included.
std::uint64_t end_failing_allocations() noexcept;
}
