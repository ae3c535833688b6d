// Memory taken straight from the system and returned as soon as it is not needed: code that keeps to a memory
// limit must know how much it holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace keysieve {

enum class Pages { Small, Huge };  // Huge: where the system has them; resident as a whole

class PageMemory {
 public:
  PageMemory() = default;
  // Not 0 bytes: zeroed, page-aligned, becomes resident as it is touched. Throws std::bad_alloc.
  explicit PageMemory(std::size_t bytes, Pages pages = Pages::Small);
  PageMemory(PageMemory&& other) noexcept
      : address_(std::exchange(other.address_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  PageMemory& operator=(PageMemory&& other) noexcept;
  PageMemory(const PageMemory&) = delete;
  PageMemory& operator=(const PageMemory&) = delete;
  ~PageMemory();

  [[nodiscard]] std::byte* get() const noexcept { return address_; }

 private:
  std::byte* address_ = nullptr;
  std::size_t bytes_ = 0;
};

// What this process holds in memory now.
std::uint64_t resident_bytes();

}  // namespace keysieve
