// XXH3-64, unseeded: guards against damage, not against forgery (who may write is decided by owner and mode).
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/base/bytes.hpp"

namespace keysieve {

inline std::uint64_t checksum(Bytes bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace keysieve
