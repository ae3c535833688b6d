#include "tools/loader/config/private_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/builder/base/folder_names.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/set_name.hpp"
#include "tools/program/durable_file.hpp"

namespace keysieve {
namespace {

constexpr std::string_view kUnfinished = ".tmp.";  // then a process id: tools/program/durable_file.cpp

void check_private_path(const std::string& path, int open_flags, const std::string& name) {
  const FileDescriptor opened(::open(path.c_str(), O_PATH | O_CLOEXEC | open_flags));
  if (!opened.is_open() && errno == ENOENT) return;
  if (!opened.is_open()) throw_read_error(name, errno);
  check_private(opened, name);
}

// "<set>.<file>.tmp.<process id>". The folder may have files of others.
bool is_unfinished(std::string_view name) {
  const std::size_t end = name.find(kUnfinished);
  if (end == std::string_view::npos) return false;
  const std::string_view process = name.substr(end + kUnfinished.size());
  if (process.empty() || process.find_first_not_of("0123456789") != std::string_view::npos) return false;
  name = name.substr(0, end);
  const std::size_t dot = std::min(name.find('.'), name.size());
  constexpr std::array<std::string_view, 3> kFiles{".ks", ".state", ".adds"};
  return is_set_name(name.substr(0, dot)) && std::ranges::find(kFiles, name.substr(dot)) != kFiles.end();
}

}  // namespace

void prepare_cache(const std::string& folder) noexcept try {
  ::mkdir(folder.c_str(), S_IRWXU);
  check_private_folder(folder);
  std::error_code ignored;
  for (const std::string& name : names_in(folder, ignored)) {
    if (is_unfinished(name)) ::unlink((folder + "/").append(name).c_str());
  }
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
