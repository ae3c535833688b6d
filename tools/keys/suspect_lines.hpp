// What shows at the beginning of a list that is none: a file of another kind, which is refused, and lines
// that may be keys but look like something else (quoted, padded, with several columns), so that no lookup
// would find them. Used by key_file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/keys/key_file.hpp"

namespace keysieve {

// One sentence for each thing that looks wrong, with the first lines that show it. `lines` are the first
// whole lines of a list.
std::vector<std::string> suspicions_about(std::string_view lines);

// Why a list that begins like this is refused; nothing where it may be one.
std::optional<std::string> wrong_beginning(std::string_view text, const KeyFileFormat& format);

}  // namespace keysieve
