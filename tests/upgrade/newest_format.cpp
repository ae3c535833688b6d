#include "core/worker/snapshot/layout.hpp"

namespace keysieve {

std::uint16_t newest_snapshot_format() noexcept {
  return KEYSIEVE_NEWEST_FORMAT;
}

}  // namespace keysieve
