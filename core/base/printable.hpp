// Text of others, for a terminal or a log.
#pragma once

#include <string>
#include <string_view>

namespace keysieve {

// The text, with U+FFFD for what is no printable UTF-8, ends of lines too: a terminal takes it for orders.
std::string printable(std::string_view text);

}  // namespace keysieve
