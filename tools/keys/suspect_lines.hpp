// Looks at the beginning of a file for signs that it is no list of keys. A file of another kind is refused.
// Lines that may be keys but look like something else (quoted, padded, with several columns) are
// suspicious: no lookup would find them. Used by key_file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/keys/key_file.hpp"

namespace keysieve {

// Returns one sentence for each thing that looks wrong, with the first lines that show it. `lines` are the
// first whole lines of a list.
std::vector<std::string> suspicions_about(std::string_view lines);

// Returns why a list that begins like this is refused; nothing if it may be a list of keys.
std::optional<std::string> wrong_beginning(std::string_view text, const KeyFileFormat& format);

}  // namespace keysieve
