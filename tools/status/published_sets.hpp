// The sets of a directory, for those who look after a host; a reader knows the name of its set.
#pragma once

#include <string>
#include <vector>

namespace keysieve {

// Those that have a folder there, by name. Throws MissingInput, Permission.
std::vector<std::string> sets_in(const std::string& directory);

}  // namespace keysieve
