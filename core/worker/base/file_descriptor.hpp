// An open file that closes itself. mapped_region.hpp maps it.
#pragma once

#include <sys/stat.h>

#include <compare>
#include <cstdint>
#include <string>
#include <utility>

namespace keysieve {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) noexcept : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }

  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
  [[nodiscard]] int get() const noexcept { return fd_; }
  void close() noexcept;

 private:
  int fd_ = -1;
};

// Identifies a file whatever its name. The numbers are not reused while it is open or mapped.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

inline FileIdentity identity_of(const struct stat& status) noexcept {
  return {status.st_dev, status.st_ino};
}

// fstat; throws MissingInput naming the file.
struct stat stat_of(const FileDescriptor& file, const std::string& path);

// Whether the file is on a tmpfs: nothing needs syncing there, and a mapping shows what its path leads to.
// Throws MissingInput naming the file.
bool is_in_memory(const FileDescriptor& file, const std::string& path);

}  // namespace keysieve
