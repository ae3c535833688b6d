// An open file: closes itself, and maps itself with Boost.Interprocess through get_mapping_handle(). Boost's
// own file_mapping opens by path and follows symbolic links; here the caller has opened and checked the file
// first.
#pragma once

#include <sys/stat.h>

#include <boost/interprocess/detail/os_file_functions.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <string>
#include <utility>

#include "core/base/bytes.hpp"

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

  // For boost::interprocess::mapped_region (its MemoryMappable concept).
  [[nodiscard]] boost::interprocess::mapping_handle_t get_mapping_handle() const noexcept {
    return boost::interprocess::ipcdetail::mapping_handle_from_file_handle(fd_);
  }

 private:
  int fd_ = -1;
};

using MappedRegion = boost::interprocess::mapped_region;

// Maps the first `bytes` bytes, which must be there; `path` is for the message. Throws CannotCreateError.
MappedRegion map_region(const FileDescriptor& file, boost::interprocess::mode_t mode, std::size_t bytes,
                        const std::string& path);

// Opens an ordinary file that a user named, and maps all of it read-only. Throws MissingInputError,
// PermissionError.
MappedRegion map_file(const std::string& path);

inline Bytes bytes_of(const MappedRegion& region) noexcept {
  return {static_cast<const std::byte*>(region.get_address()), region.get_size()};
}

// fstat; throws MissingInputError naming the file.
struct stat stat_of(const FileDescriptor& file, const std::string& path);

// Whether it lies on a tmpfs, where nothing needs syncing. Throws MissingInputError naming the file.
bool is_in_memory(const FileDescriptor& file, const std::string& path);

// Writes all bytes by write(2), so that a full file system is ENOSPC here and not SIGBUS later.
void write_all(const FileDescriptor& file, Bytes bytes, const std::string& path);
// The same from `offset` on; several threads may write to a file at once.
void write_all_at(const FileDescriptor& file, std::uint64_t offset, Bytes bytes, const std::string& path);

// Reads exactly as many bytes, from `offset` on. Throws MissingInputError, DataError when the file is
// shorter.
void read_all_at(const FileDescriptor& file, std::uint64_t offset, MutableBytes bytes,
                 const std::string& path);

}  // namespace keysieve
