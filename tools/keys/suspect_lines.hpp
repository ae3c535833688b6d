// Lines that may be keys, but look like something else: quoted, padded, or with several columns. Then no
// lookup would find them. Used by key_file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace keysieve {

// One sentence for each thing that looks wrong, with the first lines that show it. `lines` are the first
// whole lines of a list.
std::vector<std::string> suspicions_about(std::string_view lines);

}  // namespace keysieve
