// What a directory has: its sets, the memory that they take, and how its file system gives it. For those who
// look after a host; a reader knows the name of its set.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/shm/memory_use.hpp"

namespace keysieve {

struct DirectoryStatus {
  std::string directory;
  MemoryUse memory;
  std::optional<std::string> huge_pages;  // what its tmpfs gives; nothing on any other file system
};

// Throws MissingInput, Permission.
DirectoryStatus directory_status(const std::string& directory);

// The sets that have a folder there, by name. Throws MissingInput, Permission.
std::vector<std::string> sets_in(const std::string& directory);

}  // namespace keysieve
