// Writing a whole file so that it is there complete or not at all, whatever happens in between.
#pragma once

#include <functional>
#include <string>

#include "core/base/bytes.hpp"

namespace keysieve {

// Writes beside `path` under a temporary name, syncs, and renames over it. Mode 0640 less the umask. Throws
// CannotCreateError or PermissionError that names the file; then nothing is left behind and an older file is
// untouched.
void write_durable_file(const std::string& path, Bytes bytes);

// The same in parts, which need not be in memory together: `write` hands them over one behind the other. What
// it throws is passed on, and leaves nothing behind either.
using WritePart = std::function<void(Bytes part)>;
void write_durable_file(const std::string& path, const std::function<void(const WritePart&)>& write);

// Does nothing where there is no such file. Throws CannotCreateError or PermissionError that names it.
void remove_file(const std::string& path);

}  // namespace keysieve
