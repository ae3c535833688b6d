// Writes to a descriptor that others may have stopped reading: a full pipe, a terminal that is stopped. For a
// daemon, which nothing but a store may hold.
#pragma once

#include <cstddef>
#include <string_view>

namespace keysieve {

// Writes as much of the text as there is room for without waiting, and returns how much. Any error counts as
// no room. On a pipe, up to PIPE_BUF bytes go as a whole or not at all. A terminal must be open with
// O_NONBLOCK.
std::size_t write_without_waiting(int descriptor, std::string_view text) noexcept;

}  // namespace keysieve
