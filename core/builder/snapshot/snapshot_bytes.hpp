#pragma once

#include <memory>

#include "core/worker/base/bytes.hpp"

namespace keysieve {

// Page-aligned bytes of a whole snapshot, initially zero.
class SnapshotBytes {
 public:
  // Throws std::bad_alloc.
  explicit SnapshotBytes(std::size_t size);

  [[nodiscard]] MutableBytes get() noexcept { return {address_.get(), size_}; }
  [[nodiscard]] Bytes get() const noexcept { return {address_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* address) const noexcept;
  };
  std::unique_ptr<std::byte[], Free> address_;
  std::size_t size_;
};

}  // namespace keysieve
