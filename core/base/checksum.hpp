// XXH3-64, unseeded: guards against damage, not against forgery (who may write is decided by owner and mode).
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/base/bytes.hpp"

namespace keysieve {

inline std::uint64_t checksum(Bytes bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

// The same of bytes that come one behind the other.
class RunningChecksum {
 public:
  RunningChecksum() noexcept { XXH3_64bits_reset(&state_); }
  void add(Bytes bytes) noexcept { XXH3_64bits_update(&state_, bytes.data(), bytes.size()); }
  [[nodiscard]] std::uint64_t value() const noexcept { return XXH3_64bits_digest(&state_); }

 private:
  XXH3_state_t state_{};
};

}  // namespace keysieve
