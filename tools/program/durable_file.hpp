// Writing a whole file so that it is there complete or not at all, whatever happens in between.
#pragma once

#include <string>

#include "core/base/bytes.hpp"

namespace keysieve {

// Writes beside `path` under a temporary name, syncs, and renames over it. Mode 0640 less the umask. Throws
// CannotCreateError or PermissionError that names the file; then nothing is left behind and an older file is
// untouched.
void write_durable_file(const std::string& path, Bytes bytes);

// Does nothing where there is no such file. Throws CannotCreateError or PermissionError that names it.
void remove_file(const std::string& path);

}  // namespace keysieve
