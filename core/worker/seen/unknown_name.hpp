// What to say about a set that is not there: that no set has its name, and which one may have been meant. For
// the extension's messages.
#pragma once

#include <cstdint>
#include <string>

namespace keysieve {

enum class SetType : std::uint8_t { Published, Seen };

// Empty if the directory has a set of that name and type, or if this process may not list the directory.
// Reads the whole directory, so call it only for a message. The package in PHP has the same texts
// (UnknownName.php).
std::string about_unknown_name(const std::string& directory, const std::string& name, SetType type);

}  // namespace keysieve
