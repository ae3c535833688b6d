#include "core/worker/base/file_descriptor.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include "core/worker/base/error.hpp"

namespace keysieve {

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void FileDescriptor::close() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

struct stat stat_of(const FileDescriptor& file, const std::string& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_read_error(path, errno);
  return status;
}

bool is_in_memory(const FileDescriptor& file, const std::string& path) {
  struct statfs file_system {};
  if (::fstatfs(file.get(), &file_system) != 0) throw_read_error(path, errno);
  return file_system.f_type == TMPFS_MAGIC;
}

}  // namespace keysieve
