// The folder of one set below the directory, opened once and used through openat(2). So no path is walked
// twice, and no symbolic link is followed. The folder's owner decides whether its files are trusted.
// publisher_folder.hpp has what a publisher does to it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve {

// Shared memory of all sets: `--directory`, KEYSIEVE_DIRECTORY, keysieve.directory.
inline constexpr std::string_view kDefaultDirectory = "/run/keysieve";

inline constexpr const char* kLockName = "lock";
inline constexpr const char* kControlName = "control";

inline constexpr mode_t kWritableByOthers = S_IWGRP | S_IWOTH;

// "<16 hex digits>.ks", "<16 hex digits>.live"
inline constexpr std::size_t kPublicationDigits = 16;
std::string snapshot_file_name(std::uint64_t publication);
std::string live_file_name(std::uint64_t publication);

class SetFolder {
 public:
  // Takes the opened folder. Throws NotTrusted as open() does.
  SetFolder(FileDescriptor folder, std::string path, std::optional<uid_t> trusted_owner);
  // Opens <directory>/<set>. Throws MissingInput when it is not there, and NotTrusted when it is writable by
  // group or others, or belongs to none of root, the effective uid and `trusted_owner`.
  static SetFolder open(const std::string& directory, std::string_view set_name,
                        std::optional<uid_t> trusted_owner);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string path_of(const std::string& file_name) const { return path_ + "/" + file_name; }
  [[nodiscard]] uid_t owner() const noexcept { return owner_; }
  [[nodiscard]] const FileDescriptor& descriptor() const noexcept { return folder_; }

  // Opens a regular file that belongs to the folder's owner and that group and others cannot write; `flags`
  // are those of open(2). Throws as open() does.
  [[nodiscard]] FileDescriptor open_file(const std::string& file_name, int flags) const;

  // Nothing when there is no such file. Throws MissingInput, Permission if it cannot find out.
  [[nodiscard]] std::optional<struct stat> status_of(const std::string& file_name) const;

  // Throws MissingInput, Permission.
  static FileDescriptor open_directory(const std::string& directory);
  // Not open if that fails; errno says why.
  static FileDescriptor open_folder(const FileDescriptor& directory, const std::string& set_name);

 private:
  FileDescriptor folder_;
  std::string path_;
  uid_t owner_;
};

}  // namespace keysieve
