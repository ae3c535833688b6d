// How much shared memory the publications of a directory hold, and how much of it is in huge pages (2 MB on
// x86-64). For operators; readers do not need it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/worker/base/bytes.hpp"

namespace keysieve {

struct MemoryUse {
  std::uint64_t visible_bytes = 0;  // files that have a name
  // Unlinked, but still mapped somewhere: what the file system holds beyond its visible files. Known only if
  // the directory is a tmpfs of its own.
  std::optional<std::uint64_t> pinned_bytes;
};

// Memory use of a directory, including the unlinked files that idle workers pin. Throws MissingInput,
// Permission.
MemoryUse memory_use(const std::string& directory);

// At least what memory_use() finds, for one system call: all that the directory's tmpfs holds. Nothing if it
// is on another file system, or on a tmpfs without a size. Throws MissingInput, Permission.
std::optional<std::uint64_t> tmpfs_used_bytes(const std::string& directory);

// Bytes of a mapped file that this process sees through huge pages; nothing if /proc cannot be read. Touches
// all of it; a few milliseconds per 100 MB.
std::optional<std::uint64_t> huge_page_bytes(Bytes mapping);

// The huge page policy of the directory's tmpfs for written files: "never", "always", "within_size" or
// "advise" (mount option huge=, unless the kernel's shmem_enabled overrules it); nothing on any other file
// system. Throws MissingInput, Permission.
std::optional<std::string> huge_page_policy(const std::string& directory);

}  // namespace keysieve
