#include "tools/program/durable_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/file_descriptor.hpp"

namespace keysieve {
namespace {

constexpr mode_t kFileMode = 0640;

void sync(const FileDescriptor& file, const std::string& path) {
  if (::fsync(file.get()) != 0) throw_write_error(path + ": cannot sync", errno);
}

// A device or a pipe would be replaced by a file of its name; as root, /dev/null too.
void check_replaceable(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw CannotCreateError(path + ": is there already and is not an ordinary file");
  }
}

void write_new_file(const std::string& temporary, const std::string& path,
                    const std::function<void(const WritePart&)>& write) {
  const FileDescriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  if (!file.is_open()) throw_write_error(path, errno);
  write([&](Bytes part) { write_all(file, part, path); });
  sync(file, path);
}

void sync_folder_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  const FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open()) throw_write_error(folder, errno);
  sync(opened, folder);
}

}  // namespace

void write_durable_file(const std::string& path, Bytes bytes) {
  write_durable_file(path, [bytes](const WritePart& write_part) { write_part(bytes); });
}

void write_durable_file(const std::string& path, const std::function<void(const WritePart&)>& write) {
  check_replaceable(path);
  const std::string temporary = path + ".tmp." + std::to_string(::getpid());
  ::unlink(temporary.c_str());  // what a crash has left
  try {
    write_new_file(temporary, path, write);
    if (::rename(temporary.c_str(), path.c_str()) != 0) throw_write_error(path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder_of(path);
}

void remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw_write_error(path + ": cannot remove", errno);
}

}  // namespace keysieve
