#include "core/worker/base/checksum.hpp"

#include "core/worker/base/xxhash.hpp"

namespace keysieve {

std::uint64_t checksum(Bytes bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace keysieve
