#include "tools/status/directory_status.hpp"

#include <algorithm>
#include <filesystem>

#include "core/publisher/shm/memory_use.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/set_name.hpp"

namespace keysieve {

DirectoryStatus directory_status(const std::string& directory) {
  return {.directory = directory, .memory = memory_use(directory), .huge_pages = huge_page_policy(directory)};
}

std::vector<std::string> sets_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(directory, failure), end; !failure && at != end;
       at.increment(failure)) {
    const std::string name = at->path().filename();
    std::error_code unreadable;
    if (is_set_name(name) && at->is_directory(unreadable)) names.push_back(name);
  }
  if (failure) throw_read_error("directory " + directory, failure.value());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace keysieve
