#include "core/shm/memory_use.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <filesystem>

#include "core/base/error.hpp"

namespace keysieve {
namespace {

std::uint64_t visible_bytes(const std::string& directory) {
  std::uint64_t bytes = 0;
  std::error_code failure;
  // Files come and go meanwhile, and some folders are another user's; what cannot be read is not counted.
  constexpr auto kOptions = std::filesystem::directory_options::skip_permission_denied;
  for (std::filesystem::recursive_directory_iterator at(directory, kOptions, failure), end; at != end;
       at.increment(failure)) {
    struct stat status {};
    if (::lstat(at->path().c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
    }
  }
  if (failure) throw_read_error("directory " + directory, failure.value());
  return bytes;
}

bool is_own_tmpfs(const std::string& directory, const struct statfs& file_system) {
  struct stat here {};
  struct stat above {};
  return file_system.f_type == TMPFS_MAGIC && ::stat(directory.c_str(), &here) == 0 &&
         ::stat((directory + "/..").c_str(), &above) == 0 && here.st_dev != above.st_dev;
}

}  // namespace

MemoryUse memory_use(const std::string& directory) {
  struct statfs file_system {};
  if (::statfs(directory.c_str(), &file_system) != 0) throw_read_error("directory " + directory, errno);
  MemoryUse use{.visible_bytes = visible_bytes(directory), .pinned_bytes = std::nullopt};
  if (is_own_tmpfs(directory, file_system)) {
    const std::uint64_t used =
        (file_system.f_blocks - file_system.f_bfree) * static_cast<std::uint64_t>(file_system.f_bsize);
    use.pinned_bytes = used > use.visible_bytes ? used - use.visible_bytes : 0;
  }
  return use;
}

}  // namespace keysieve
