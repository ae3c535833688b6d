// Looks at the beginning and the end of a list for signs that its lines are not keys. A file of another kind
// is refused by its first bytes. Lines that may be keys but look like something else (quoted, padded, a
// table, JSON, an error message) are suspicious: no lookup would find them. Used by key_file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/keys/key_file.hpp"

namespace keysieve {

// Returns what looks wrong, with the first lines that show it. `beginning` are the first whole lines of a
// list, `ending` its last ones; both may be the whole list.
std::vector<Suspicion> suspicions_about(std::string_view beginning, std::string_view ending,
                                        const KeyFileFormat& format);

// Returns why a list that begins like this is refused; nothing if it may be a list of keys.
std::optional<std::string> wrong_beginning(std::string_view text, const KeyFileFormat& format);

// The first `most` lines, in quotes and cut to 40 bytes.
std::string examples(std::span<const std::string_view> lines, std::size_t most = 3);

}  // namespace keysieve
