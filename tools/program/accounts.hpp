// Users and groups, as people name them.
#pragma once

#include <sys/types.h>

#include <string>

namespace keysieve {

// Digits are a gid, whether it has a name or not. Throws Usage for a name that the system does not know.
gid_t group_named(const std::string& name);

// Names, or numbers where there is none.
std::string user_name(uid_t uid);
std::string group_name(gid_t gid);

}  // namespace keysieve
