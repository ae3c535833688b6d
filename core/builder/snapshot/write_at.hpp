// Receives the bytes of a snapshot or of counters while they are made, in any order: memory or a file.
#pragma once

#include <cstdint>
#include <functional>

#include "core/worker/base/bytes.hpp"

namespace keysieve {

// `offset` counts from the first byte of the whole. An exception from it ends the build and is passed on.
using WriteAt = std::function<void(std::uint64_t offset, Bytes bytes)>;

}  // namespace keysieve
