// Makes foreign text safe for a terminal or a log.
#pragma once

#include <string>
#include <string_view>

namespace keysieve {

// The text, with U+FFFD for everything that is not printable UTF-8, line ends included: a terminal could take
// it for commands.
std::string printable(std::string_view text);
// In quotes, and cut to the whole characters among its first `most` bytes. A tab, a quote and a backslash
// are escaped.
std::string quoted(std::string_view text, std::size_t most);

}  // namespace keysieve
