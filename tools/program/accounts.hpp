// Users and groups, as people name them, and what they may do.
#pragma once

#include <sys/stat.h>

#include <string>

namespace keysieve {

// Digits are a gid, whether it has a name or not. Throws Usage for a name that the system does not know.
gid_t group_named(const std::string& name);

// Names, or numbers where there is none.
std::string user_name(uid_t uid);
std::string group_name(gid_t gid);
// "/run/keysieve: keysieve:www-data 0750" Throws MissingInput, Permission.
std::string owner_and_mode(const std::string& path);

// Whether others than its owner may put something else in the place of a file in that folder. Write
// permission does not count if a sticky bit keeps users to their own files, or if the mount is read-only for
// this process.
bool others_may_write(const std::string& folder, const struct stat& status);

}  // namespace keysieve
