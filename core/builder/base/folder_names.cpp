#include "core/builder/base/folder_names.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

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
  const FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.is_open()) return names_in(opened, error);
  error = {errno, std::generic_category()};
  return {};
}

std::vector<std::string> names_in(const FileDescriptor& folder, std::error_code& error) {
  std::vector<std::string> names;
  errno = 0;
  // A descriptor of its own, at the beginning.
  const int again = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseStream> stream(again < 0 ? nullptr : ::fdopendir(again));
  while (const dirent* entry = stream ? ::readdir(stream.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  error = {errno, std::generic_category()};
  if (!stream && again >= 0) ::close(again);
  return names;
}

}  // namespace keysieve
