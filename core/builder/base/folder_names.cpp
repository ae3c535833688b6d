#include "core/builder/base/folder_names.hpp"

#include <dirent.h>

#include <cerrno>
#include <memory>
#include <string_view>

namespace keysieve {
namespace {

struct CloseStream {
  void operator()(DIR* stream) const noexcept { ::closedir(stream); }
};

}  // namespace

std::vector<std::string> names_in(const std::string& folder, std::error_code& error) {
  std::vector<std::string> names;
  errno = 0;
  const std::unique_ptr<DIR, CloseStream> stream(::opendir(folder.c_str()));
  while (const dirent* entry = stream ? ::readdir(stream.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  error = {errno, std::generic_category()};
  return names;
}

}  // namespace keysieve
