// What a directory has for all its sets: the memory that they take, and how its file system gives it.
#pragma once

#include <optional>
#include <string>

#include "core/shm/memory_use.hpp"

namespace keysieve {

struct DirectoryStatus {
  std::string directory;
  MemoryUse memory;
  std::optional<std::string> huge_pages;  // what its tmpfs gives; nothing on any other file system
};

// Throws MissingInput, Permission.
DirectoryStatus directory_status(const std::string& directory);

}  // namespace keysieve
