// What lets somebody read who may not, as commands for root. Asked before this process becomes him, who may
// see neither folders nor names.
#pragma once

#include <string>

#include "tools/doctor/situation.hpp"

namespace keysieve {

// Into the directory itself.
std::string way_into_directory(const Situation& situation, const User& user);

// Into the folder of a set and its files.
std::string way_into_set(const Situation& situation, const User& user, const std::string& set_name);

}  // namespace keysieve
