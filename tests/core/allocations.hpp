// Counts what operator new gives out, in executables that link allocations.cpp: shows that lookups allocate
// nothing, and decoding nothing large.
#pragma once

#include <cstddef>
#include <cstdint>

namespace keysieve::test {

// What was allocated since it was made. One at a time; all threads count.
class AllocationWatch {
 public:
  AllocationWatch() noexcept;
  [[nodiscard]] std::uint64_t count() const noexcept;
  [[nodiscard]] std::size_t largest_bytes() const noexcept;
};

}  // namespace keysieve::test
