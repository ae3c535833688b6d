// Makes foreign text safe for a terminal, a log, or a page.
#pragma once

#include <string>
#include <string_view>

namespace keysieve {

// The text, with U+FFFD for everything that is not printable UTF-8, line ends included: a terminal could take
// it for commands.
std::string printable(std::string_view text);

// The text inside HTML and SVG, with nothing in it that could begin markup or end an attribute.
std::string markup_text(std::string_view text);

}  // namespace keysieve
