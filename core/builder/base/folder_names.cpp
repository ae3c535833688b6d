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

// Closes the descriptor; a negative one could not be opened.
std::vector<std::string> names_read_from(int folder, std::error_code& error) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseStream> stream(folder < 0 ? nullptr : ::fdopendir(folder));
  if (stream) errno = 0;
  while (const dirent* entry = stream ? ::readdir(stream.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  error = {errno, std::generic_category()};
  if (!stream && folder >= 0) ::close(folder);
  return names;
}

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

}  // namespace

std::vector<std::string> names_in(const std::string& folder, std::error_code& error) {
  return names_read_from(::open(folder.c_str(), kFolderFlags), error);
}

std::vector<std::string> names_in(const FileDescriptor& folder, std::error_code& error) {
  return names_read_from(::openat(folder.get(), ".", kFolderFlags), error);
}

}  // namespace keysieve
