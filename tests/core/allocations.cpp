#include "tests/core/allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> allocation_count{0};
std::atomic<std::size_t> largest_allocation{0};

void* allocate(std::size_t bytes, std::size_t alignment) {
  ++allocation_count;
  if (bytes > largest_allocation) largest_allocation = bytes;
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  void* address = std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
  if (address == nullptr) throw std::bad_alloc();
  return address;
}

constexpr std::size_t kUsualAlignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

void* operator new(std::size_t bytes) {
  return allocate(bytes, kUsualAlignment);
}
void* operator new[](std::size_t bytes) {
  return allocate(bytes, kUsualAlignment);
}
// Those of AddressSanitizer do not call the ones above.
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return allocate(bytes, kUsualAlignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t bytes, const std::nothrow_t& tag) noexcept {
  return operator new(bytes, tag);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* address) noexcept {
  std::free(address);
}
void operator delete[](void* address) noexcept {
  std::free(address);
}
void operator delete(void* address, std::size_t /*bytes*/) noexcept {
  std::free(address);
}
void operator delete[](void* address, std::size_t /*bytes*/) noexcept {
  std::free(address);
}
void operator delete(void* address, std::align_val_t /*alignment*/) noexcept {
  std::free(address);
}
void operator delete[](void* address, std::align_val_t /*alignment*/) noexcept {
  std::free(address);
}
void operator delete(void* address, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(address);
}
void operator delete[](void* address, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(address);
}

namespace keysieve::test {

AllocationWatch::AllocationWatch() noexcept {
  allocation_count = 0;
  largest_allocation = 0;
}
std::uint64_t AllocationWatch::count() const noexcept {
  return allocation_count;
}
std::size_t AllocationWatch::largest_bytes() const noexcept {
  return largest_allocation;
}

}  // namespace keysieve::test
