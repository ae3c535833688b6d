// How much shared memory the publications of a directory hold, the unlinked ones that idle workers pin
// included.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace keysieve {

struct MemoryUse {
  std::uint64_t visible_bytes = 0;  // files that have a name
  // Unlinked, but still mapped somewhere: what the file system holds beyond its visible files. Known only
  // where the directory is a tmpfs of its own.
  std::optional<std::uint64_t> pinned_bytes;
};

// Throws MissingInput, Permission.
MemoryUse memory_use(const std::string& directory);

}  // namespace keysieve
