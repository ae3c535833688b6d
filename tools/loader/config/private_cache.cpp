#include "tools/loader/config/private_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/worker/base/error.hpp"
#include "tools/program/durable_file.hpp"

namespace keysieve {
namespace {

void check_private_path(const std::string& path, int open_flags, const std::string& name) {
  const FileDescriptor opened(::open(path.c_str(), O_PATH | O_CLOEXEC | open_flags));
  if (!opened.is_open() && errno == ENOENT) return;
  if (!opened.is_open()) throw_read_error(name, errno);
  check_private(opened, name);
}

}  // namespace

void prepare_cache(const std::string& folder) noexcept try {
  ::mkdir(folder.c_str(), S_IRWXU);
  check_private_folder(folder);
  remove_unfinished(folder, std::chrono::seconds(0));
  sync_folder(folder);
  sync_folder(folder_of(folder));
} catch (const std::exception&) {  // not trusted, or no memory
}

void check_private_folder(const std::string& folder) {
  check_private_path(folder, O_DIRECTORY, "cache " + folder);
}

void check_private_file(const std::string& path) {
  check_private_path(path, O_NOFOLLOW, path);
}

void check_private(const FileDescriptor& opened, const std::string& path) {
  const auto status = stat_of(opened, path);
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    throw Error(ErrorKind::NotTrusted,
                path + ": not trusted: it belongs to uid " + std::to_string(status.st_uid));
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw Error(ErrorKind::NotTrusted, path + ": not trusted: its group or others may write to it");
  }
}

}  // namespace keysieve
