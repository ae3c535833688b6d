// The position of an entry in an adds log: the millisecond it was appended at and a number within that
// millisecond, numbered as Redis numbers the entries of a stream. Both are big-endian, so that positions
// compare as their bytes do; all zero is before the first entry.
#pragma once

#include <array>
#include <cstdint>

namespace keysieve {

using LogPosition = std::array<std::uint8_t, 16>;

}  // namespace keysieve
