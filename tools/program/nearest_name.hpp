// "did you mean ...?": the known name that a mistyped one comes nearest to.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keysieve {

// Nothing if none is near: each third of the word may have one mistake, or the word is the beginning of the
// name. A mistake is one letter too many, too few or wrong, or two neighbours in the wrong order.
std::optional<std::string> nearest_name(std::string_view word, const std::vector<std::string>& names);

}  // namespace keysieve
