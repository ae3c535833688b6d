#include "tools/status/directory_status.hpp"

#include "core/shm/memory_use.hpp"

namespace keysieve {

DirectoryStatus directory_status(const std::string& directory) {
  return {.directory = directory, .memory = memory_use(directory), .huge_pages = huge_page_policy(directory)};
}

}  // namespace keysieve
