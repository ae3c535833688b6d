#include "tools/status/directory_status.hpp"

#include <algorithm>
#include <filesystem>

#include "core/builder/base/folder_names.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/set_name.hpp"

namespace keysieve {

DirectoryStatus directory_status(const std::string& directory) {
  return {.directory = directory, .memory = memory_use(directory), .huge_pages = huge_page_policy(directory)};
}

std::vector<std::string> sets_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code failure;
  for (const std::string& name : names_in(directory, failure)) {
    std::error_code unreadable;
    if (is_set_name(name) &&
        std::filesystem::is_directory(std::filesystem::path(directory) / name, unreadable))
      names.push_back(name);
  }
  if (failure) throw_read_error("directory " + directory, failure.value());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace keysieve
