#include "core/builder/snapshot/snapshot_bytes.hpp"

#include <cstring>
#include <new>

namespace keysieve {

SnapshotBytes::SnapshotBytes(std::size_t size)
    : address_(static_cast<std::byte*>(::operator new[](size, std::align_val_t{kPageBytes}))), size_(size) {
  std::memset(address_.get(), 0, size);
}

void SnapshotBytes::Free::operator()(std::byte* address) const noexcept {
  ::operator delete[](address, std::align_val_t{kPageBytes});
}

}  // namespace keysieve
