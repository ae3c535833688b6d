// How the stores that lie in a folder report a system call that failed.
#pragma once

#include <string>

namespace keysieve {

// Throws "<what>: <errno text>": PermissionError, CannotCreateError when the disk is full or read-only, else
// UnavailableError.
[[noreturn]] void throw_store_error(const std::string& what, int error_number);

// Creates the folder if its parent is there; accepts one that exists.
void create_folder(const std::string& path, const std::string& store_name);

}  // namespace keysieve
