#include "core/publisher/shm/publisher_folder.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>

#include "core/builder/base/folder_names.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/set_name.hpp"

namespace keysieve {
namespace {

constexpr mode_t kFolderMode = 02750;

std::vector<std::string> names_in(const FileDescriptor& folder, const std::string& path) {
  std::error_code error;
  std::vector<std::string> names = keysieve::names_in(folder, error);
  if (error) throw_read_error(path, error.value());
  return names;
}

// Includes all files in it, since readers of that group must reach the current publication. The folder comes
// last, so that an interrupted change is done again.
void change_group(const FileDescriptor& folder, const std::string& path, gid_t group) {
  constexpr auto kSameOwner = static_cast<uid_t>(-1);
  for (const std::string& name : names_in(folder, path)) {
    if (::fchownat(folder.get(), name.c_str(), kSameOwner, group, AT_SYMLINK_NOFOLLOW) != 0 &&
        errno != ENOENT) {
      throw_write_error(std::string(path).append("/").append(name) +
                            ": cannot change the group (its owner must be a member)",
                        errno);
    }
  }
  if (::fchown(folder.get(), kSameOwner, group) != 0) {
    throw_write_error(path + ": cannot change the group (its owner must be a member)", errno);
  }
}

void create_folder(const FileDescriptor& parent, const std::string& name, const std::string& path) {
  const uid_t owner = stat_of(parent, path).st_uid;
  if (owner != 0 && owner != ::geteuid()) {
    throw Error(ErrorKind::NotTrusted, path + ": cannot create: the directory belongs to uid " +
                                           std::to_string(owner) + ", who must publish here; this is uid " +
                                           std::to_string(::geteuid()));
  }
  if (::mkdirat(parent.get(), name.c_str(), kFolderMode) != 0 && errno != EEXIST)
    throw_write_error(path, errno);
}

// A new folder is the creator's own; an existing one gets the requested group, if it belongs to the caller.
void give_to_group(const FileDescriptor& folder, const std::string& path, std::optional<gid_t> group) {
  const auto status = stat_of(folder, path);
  if (status.st_uid != ::geteuid()) return;
  if (group && status.st_gid != *group) change_group(folder, path, *group);
  if ((status.st_mode & 07777) != kFolderMode && ::fchmod(folder.get(), kFolderMode) != 0) {
    throw_write_error(path + ": cannot change the mode", errno);
  }
}

}  // namespace

std::optional<std::uint64_t> publication_of_file(std::string_view file_name) {
  if (file_name.size() <= kPublicationDigits || file_name[kPublicationDigits] != '.') return std::nullopt;
  std::uint64_t publication = 0;
  const char* end = file_name.data() + kPublicationDigits;
  const auto parsed = std::from_chars(file_name.data(), end, publication, 16);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return publication;
}

std::optional<uid_t> trusted_owner_of(const std::string& directory, const std::string& set_name) {
  const FileDescriptor opened = SetFolder::open_directory(directory);
  const auto status = stat_of(opened, directory);
  if ((status.st_mode & kWritableByOthers) == 0) return status.st_uid;
  struct stat folder {};
  if (::fstatat(opened.get(), set_name.c_str(), &folder, AT_SYMLINK_NOFOLLOW) == 0) return folder.st_uid;
  return std::nullopt;
}

void throw_lock_error(const std::string& path, int error_number) {
  throw_write_error(
      path + ": cannot lock it: the directory must be on a file system with locks, as a tmpfs is",
      error_number);
}

SetFolder open_or_create_folder(const std::string& directory, std::string_view set_name,
                                std::optional<gid_t> group) {
  const std::string name = checked_set_name(set_name);
  const std::string path = directory + "/" + name;
  const FileDescriptor parent = SetFolder::open_directory(directory);
  FileDescriptor folder = SetFolder::open_folder(parent, name);
  if (!folder.is_open() && errno == ENOENT) {
    create_folder(parent, name, path);
    folder = SetFolder::open_folder(parent, name);
  }
  if (!folder.is_open()) throw_write_error(path, errno);
  give_to_group(folder, path, group);
  const uid_t owner = stat_of(folder, path).st_uid;
  return {std::move(folder), path, owner};
}

void take_lock(const SetFolder& folder, const FileDescriptor& lock, const std::string& at_work) {
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) throw_lock_error(folder.path_of(kLockName), errno);
    throw Error(ErrorKind::Locked, folder.path_of(kLockName) + ": locked: " + at_work);
  }
  check_lock(folder, lock);
}

void check_lock(const SetFolder& folder, const FileDescriptor& lock) {
  const auto held = stat_of(lock, folder.path_of(kLockName));
  const auto named = folder.status_of(kLockName);
  if (!named || identity_of(*named) != identity_of(held))
    throw Error(ErrorKind::Locked, folder.path_of(kLockName) + ": was removed or replaced while it was held");
}

FileDescriptor create_file(const SetFolder& folder, const std::string& file_name, mode_t mode) {
  FileDescriptor file(::openat(folder.descriptor().get(), file_name.c_str(),
                               O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.is_open()) throw_write_error(folder.path_of(file_name), errno);
  // Set here, because umask must not decide.
  if (::fchmod(file.get(), mode) != 0)
    throw_write_error(folder.path_of(file_name) + ": cannot change the mode", errno);
  return file;
}

// FUSE, 9p and gVisor do not know the flag. Without it a look is enough: under the lock no other process
// takes the name.
void rename_file(const SetFolder& folder, const std::string& from, const std::string& to) {
  // As a system call, because musl 1.2.3 lacks the function.
  const int at = folder.descriptor().get();
  if (::syscall(SYS_renameat2, at, from.c_str(), at, to.c_str(), RENAME_NOREPLACE) == 0) return;
  if ((errno == EINVAL || errno == ENOSYS) && !folder.status_of(to)) return replace_file(folder, from, to);
  throw_write_error(folder.path_of(to) + ": cannot rename " + from + " to it", errno);
}

void replace_file(const SetFolder& folder, const std::string& from, const std::string& to) {
  if (::renameat(folder.descriptor().get(), from.c_str(), folder.descriptor().get(), to.c_str()) != 0) {
    throw_write_error(folder.path_of(to) + ": cannot rename " + from + " to it", errno);
  }
}

void remove_file(const SetFolder& folder, const std::string& file_name) {
  if (::unlinkat(folder.descriptor().get(), file_name.c_str(), 0) != 0 && errno != ENOENT) {
    throw_write_error(folder.path_of(file_name) + ": cannot remove", errno);
  }
}

std::vector<std::string> file_names(const SetFolder& folder) {
  return names_in(folder.descriptor(), folder.path());
}

}  // namespace keysieve
