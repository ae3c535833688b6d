// Huge pages (2 MB on x86-64): how much of a mapping lies in them, and what the file system beneath gives.
// For those who look after a host; no reader needs to know.
#pragma once

#include <optional>
#include <string>

#include "core/base/bytes.hpp"

namespace keysieve {

// The bytes of a mapped file that this process sees through huge pages; nothing where /proc cannot be read.
// Touches all of it; a few milliseconds per 100 MB.
std::optional<std::uint64_t> huge_page_bytes(Bytes mapping);

// What the directory's tmpfs gives to files that are written: "never", "always", "within_size" or "advise"
// (mount option huge=, unless the kernel's shmem_enabled overrules it); nothing on any other file system.
// Throws MissingInput, Permission.
std::optional<std::string> huge_page_policy(const std::string& directory);

}  // namespace keysieve
