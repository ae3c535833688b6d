// What lets somebody read who may not, as commands for root; none for one whose groups are not known.
#pragma once

#include <string>

#include "tools/doctor/situation.hpp"

namespace keysieve {

// Past a folder around the directory.
std::string way_past(const std::string& folder, const User& user);

// Into the directory itself. Asked, as the next, before this process becomes him, who may see neither folders
// nor names.
std::string way_into_directory(const Situation& situation, const User& user);

// Into the folder of a set and its files.
std::string way_into_set(const Situation& situation, const User& user, const std::string& set_name);

}  // namespace keysieve
