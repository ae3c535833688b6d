// Whom the command line believes about shared memory: whoever owns the directory, who can replace all in it
// anyway.
#pragma once

#include <sys/types.h>

#include <string>

namespace keysieve {

// Throws MissingInputError, PermissionError.
uid_t directory_owner(const std::string& directory);

}  // namespace keysieve
