// XXH3-64, unseeded: guards against damage, not against forgery (owner and mode decide who may write). Out of
// line, because it is never called on the lookup path and xxHash's header is long.
#pragma once

#include <cstdint>

#include "core/worker/base/bytes.hpp"

namespace keysieve {

// Any thread.
std::uint64_t checksum(Bytes bytes) noexcept;

}  // namespace keysieve
