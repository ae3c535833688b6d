// The bytes of a whole snapshot in memory, and where a builder writes them.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>

#include "core/worker/base/bytes.hpp"

namespace keysieve {

// Page-aligned bytes of a whole snapshot, initially zero.
class SnapshotBytes {
 public:
  // Throws std::bad_alloc.
  explicit SnapshotBytes(std::size_t size)
      : address_(static_cast<std::byte*>(::operator new[](size, std::align_val_t{kPageBytes}))), size_(size) {
    std::memset(address_.get(), 0, size);
  }

  [[nodiscard]] MutableBytes get() noexcept { return {address_.get(), size_}; }
  [[nodiscard]] Bytes get() const noexcept { return {address_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* address) const noexcept {
      ::operator delete[](address, std::align_val_t{kPageBytes});
    }
  };
  std::unique_ptr<std::byte[], Free> address_;
  std::size_t size_;
};

// Receives the bytes of a snapshot while they are made, in any order: memory or a file. `offset` counts from
// the first byte of the whole. An exception from it ends the build and is passed on.
using WriteAt = std::function<void(std::uint64_t offset, Bytes bytes)>;

}  // namespace keysieve
