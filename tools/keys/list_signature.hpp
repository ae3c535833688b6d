// What a file begins with that is no list of keys, or not as it stands. Used by KeySplitter.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/keys/key_file.hpp"

namespace keysieve {

// Why a list that begins like this is refused; nothing where it may be one.
std::optional<std::string> wrong_beginning(std::string_view text, const KeyFileFormat& format);

}  // namespace keysieve
