// What stores of files share: the names in the folder of a dir: store, which an http: or https: store reads
// from a web server; opening files, their watch, and how they report a failed system call and a value that is
// no record.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/worker/base/file_descriptor.hpp"
#include "tools/stores/store.hpp"
#include "tools/stores/store_url.hpp"

namespace keysieve {

// A log's file has this before what file_name_of() makes of the log's name.
inline constexpr std::string_view kLogPrefix = ".log-";

// Holds other bytes after every change to the store. So a client that finds it as it was need not read
// anything else. It begins with these words, which no page of a web server does.
inline constexpr std::string_view kChangesFile = ".changes";
inline constexpr std::string_view kChangesWords = "keysieve changes ";

// The name is neither hidden nor a path, whatever the key. Files that begin with a dot are the store's own.
inline std::string file_name_of(const std::string& key) {
  const std::string name = percent_encoded(key, ":_-.");
  return name.starts_with('.') ? "%2E" + name.substr(1) : name;
}

// The key of the record in a file of that name; nothing when it holds none.
inline std::optional<std::string> key_of(const std::string& file_name) {
  std::string key = percent_decoded(file_name);
  return file_name_of(key) == file_name ? std::optional(std::move(key)) : std::nullopt;
}

// Throws "<what>: <errno text>": Permission, CannotCreate when the disk is full or read-only, Data when
// something else is in the place of a file, else Unavailable.
[[noreturn]] void throw_store_error(const std::string& what, int error_number);

// Throws Data.
[[noreturn]] void throw_too_large(const std::string& store_name, std::string_view key);

// Creates the folder durably if its parent is there; accepts one that exists.
void create_folder(const std::string& path, const std::string& store_name);

// As open(), but follows no link and does not wait for the other end of a FIFO. It does wait for a lease,
// which an NFS server has on a file for each client that reads it: only regular files can have one.
inline FileDescriptor open_store_file(const std::string& path, int flags, mode_t mode = 0) {
  flags |= O_NOFOLLOW | O_CLOEXEC;
  FileDescriptor file(::open(path.c_str(), flags | O_NONBLOCK, mode));
  if (!file.is_open() && errno == EWOULDBLOCK) file = FileDescriptor(::open(path.c_str(), flags, mode));
  return file;
}

inline constexpr mode_t kNewFileMode = 0660;  // less the umask

// Gives a file of the store that this user has made, now or earlier, the folder's group, and the group the
// rights that it has in the folder. So the umask does not decide whether a web server can read it. Does
// nothing if this user is no member of the group, or the file system has no modes.
inline void share_as_folder(const FileDescriptor& file, const std::string& folder) {
  struct stat made {};
  struct stat around {};
  if (::fstat(file.get(), &made) != 0 || ::stat(folder.c_str(), &around) != 0) return;
  if (made.st_uid != ::geteuid()) return;
  if (made.st_gid != around.st_gid && ::fchown(file.get(), static_cast<uid_t>(-1), around.st_gid) != 0)
    return;
  const mode_t mode = (S_IRUSR | S_IWUSR) | (around.st_mode & (S_IRGRP | S_IWGRP));
  if ((made.st_mode & 07777) != mode) static_cast<void>(::fchmod(file.get(), mode));
}

// Reports by inotify when any process of this host writes or replaces the file of that name, a constant; not
// what other hosts do on a network file system. Throws Unavailable, or Permission, "<store>: cannot watch:
// <reason>"; the watch throws it when the folder is gone or was replaced.
std::unique_ptr<StoreWatch> watch_folder(const std::string& folder, const std::string& store_name,
                                         std::string_view file_name);

}  // namespace keysieve
