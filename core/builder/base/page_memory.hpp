// Memory taken straight from the system and returned as soon as it is not needed: code that keeps to a memory
// limit must know how much it holds.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace keysieve {

enum class Pages { Small, Huge };  // Huge: where the system has them; resident as a whole

struct Unmap {
  std::size_t bytes = 0;
  void operator()(std::byte* address) const noexcept { ::munmap(address, bytes); }
};
using PageMemory = std::unique_ptr<std::byte, Unmap>;

// Not 0 bytes: zeroed, page-aligned, becomes resident as it is touched. Throws std::bad_alloc.
PageMemory take_pages(std::size_t bytes, Pages pages);

// What this process holds in memory now.
std::uint64_t resident_bytes();

}  // namespace keysieve
