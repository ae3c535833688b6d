// Counts the memory that operator new hands out, in executables that link allocations.cpp: shows that lookups
// allocate nothing, and decoding nothing large.
#pragma once

#include <cstddef>
#include <cstdint>

namespace keysieve::test {

// Allocations since it was created. Only one may exist at a time; it counts all threads.
class AllocationWatch {
 public:
  AllocationWatch() noexcept;
  [[nodiscard]] std::uint64_t count() const noexcept;
  [[nodiscard]] std::size_t largest_bytes() const noexcept;
};

}  // namespace keysieve::test
