// How stores report a failed system call, and a value that is no record.
#pragma once

#include <string>
#include <string_view>

namespace keysieve {

// Throws "<what>: <errno text>": Permission, CannotCreate when the disk is full or read-only, Data when
// something else is in the place of a file, else Unavailable.
[[noreturn]] void throw_store_error(const std::string& what, int error_number);

// Throws Data.
[[noreturn]] void throw_too_large(const std::string& store_name, std::string_view key);

// Creates the folder durably if its parent is there; accepts one that exists.
void create_folder(const std::string& path, const std::string& store_name);

}  // namespace keysieve
