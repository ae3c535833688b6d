// What a directory holds: its sets, the memory they take, and whether its file system gives huge pages. For
// operators; a reader knows the name of its set.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/publisher/shm/memory_use.hpp"

namespace keysieve {

struct DirectoryStatus {
  std::string directory;
  MemoryUse memory;
  std::optional<std::string> huge_pages;  // the policy of its tmpfs; nothing on any other file system
};

// Throws MissingInput, Permission.
DirectoryStatus directory_status(const std::string& directory);

// The sets that have a folder there, by name. Throws MissingInput, Permission.
std::vector<std::string> sets_in(const std::string& directory);

}  // namespace keysieve
