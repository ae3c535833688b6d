// Memory straight from the system, which has it back as soon as it is not needed: what keeps to a limit must
// know what it holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace keysieve {

enum class Pages { Small, Huge };  // Huge: where the system has them; all of such a page is resident at once

class PageMemory {
 public:
  PageMemory() = default;
  // Zeroed, aligned to pages, resident as it is touched. Throws std::bad_alloc.
  explicit PageMemory(std::size_t bytes, Pages pages = Pages::Small);
  PageMemory(PageMemory&& other) noexcept
      : address_(std::exchange(other.address_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  PageMemory& operator=(PageMemory&& other) noexcept;
  PageMemory(const PageMemory&) = delete;
  PageMemory& operator=(const PageMemory&) = delete;
  ~PageMemory() { release(); }

  [[nodiscard]] std::byte* get() const noexcept { return address_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  void release() noexcept;

  std::byte* address_ = nullptr;
  std::size_t bytes_ = 0;
};

// What this process holds in memory now.
std::uint64_t resident_bytes();

}  // namespace keysieve
