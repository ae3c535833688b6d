#include "core/worker/shm/set_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "core/worker/base/error.hpp"
#include "core/worker/base/set_name.hpp"

namespace keysieve {
namespace {

std::string hex_name(std::uint64_t publication, std::string_view ending) {
  std::array<char, kPublicationDigits + 1> digits;
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(publication));
  return std::string(digits.data()).append(ending);
}

}  // namespace

std::string snapshot_file_name(std::uint64_t publication) {
  return hex_name(publication, ".ks");
}
std::string live_file_name(std::uint64_t publication) {
  return hex_name(publication, ".live");
}

FileDescriptor SetFolder::open_directory(const std::string& directory) {
  FileDescriptor opened(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open()) throw_read_error("directory " + directory, errno);
  return opened;
}

FileDescriptor SetFolder::open_folder(const FileDescriptor& directory, const std::string& set_name) {
  return FileDescriptor(
      ::openat(directory.get(), set_name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

SetFolder SetFolder::open(const std::string& directory, std::string_view set_name,
                          std::optional<uid_t> trusted_owner) {
  const std::string name = checked_set_name(set_name);
  const std::string path = directory + "/" + name;
  FileDescriptor folder = open_folder(open_directory(directory), name);
  if (!folder.is_open()) throw_read_error(path, errno);
  return {std::move(folder), path, trusted_owner};
}

SetFolder::SetFolder(FileDescriptor folder, std::string path, std::optional<uid_t> trusted_owner)
    : folder_(std::move(folder)), path_(std::move(path)) {
  const auto status = stat_of(folder_, path_);
  owner_ = status.st_uid;
  if (owner_ != 0 && owner_ != ::geteuid() && owner_ != trusted_owner) {
    throw Error(ErrorKind::NotTrusted,
                path_ + ": not trusted: it belongs to uid " + std::to_string(owner_) +
                    ", which is neither root nor this process's user nor the configured owner");
  }
  if ((status.st_mode & kWritableByOthers) != 0) {
    throw Error(ErrorKind::NotTrusted, path_ + ": not trusted: its group or others may write to it");
  }
}

FileDescriptor SetFolder::open_file(const std::string& file_name, int flags) const {
  // O_NONBLOCK: opening a pipe would wait for its other end.
  FileDescriptor file(::openat(folder_.get(), file_name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
                               S_IRUSR | S_IWUSR));
  if (!file.is_open()) {
    if ((flags & O_CREAT) != 0) throw_write_error(path_of(file_name), errno);
    throw_read_error(path_of(file_name), errno);
  }
  const auto status = stat_of(file, path_of(file_name));
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorKind::NotTrusted, path_of(file_name) + ": not trusted: not a regular file");
  if (status.st_uid != owner_) {
    throw Error(ErrorKind::NotTrusted, path_of(file_name) + ": not trusted: it belongs to uid " +
                                           std::to_string(status.st_uid) + ", the folder to uid " +
                                           std::to_string(owner_));
  }
  if ((status.st_mode & kWritableByOthers) != 0) {
    throw Error(ErrorKind::NotTrusted,
                path_of(file_name) + ": not trusted: its group or others may write to it");
  }
  return file;
}

std::optional<struct stat> SetFolder::status_of(const std::string& file_name) const {
  struct stat status {};
  if (::fstatat(folder_.get(), file_name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return status;
  if (errno != ENOENT) throw_read_error(path_of(file_name), errno);
  return std::nullopt;
}

}  // namespace keysieve
