// Text inside HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace keysieve {

// With nothing in it that could begin markup or end an attribute.
std::string markup_text(std::string_view text);

}  // namespace keysieve
