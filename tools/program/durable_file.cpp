#include "tools/program/durable_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "core/builder/base/file_io.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/mapped_region.hpp"

namespace keysieve {
namespace {

constexpr mode_t kFileMode = 0640;

// A device or a pipe would be replaced by a file of its name; as root, /dev/null too.
void check_replaceable(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::CannotCreate, path + ": is there already and is not an ordinary file");
  }
}

// How linkat(2) finds a file without a name.
std::string descriptor_path(const FileDescriptor& file) {
  return "/proc/self/fd/" + std::to_string(file.get());
}

// A file that has no name, and so is gone when the process is; not open where there is no such thing.
FileDescriptor open_nameless(const std::string& folder) {
  FileDescriptor file(::open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, kFileMode));
  if (file.is_open() && ::access(descriptor_path(file).c_str(), F_OK) != 0) return {};
  return file;
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

void sync_file(const FileDescriptor& file, const std::string& path) {
  if (::fsync(file.get()) != 0) throw_write_error(path + ": cannot sync", errno);
}

void sync_folder(const std::string& folder) {
  const FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open()) {
    if (errno == EACCES) return;
    throw_write_error(folder, errno);
  }
  if (::fsync(opened.get()) != 0 && errno != EINVAL && errno != EROFS)
    throw_write_error(folder + ": cannot sync", errno);
}

DurableFile::DurableFile(std::string path) : path_(std::move(path)) {
  check_replaceable(path_);
  temporary_ = path_ + ".tmp." + std::to_string(::getpid());
  ::unlink(temporary_.c_str());  // what a crash has left
  file_ = open_nameless(folder_of(path_));
  if (file_.is_open()) return;
  file_ = FileDescriptor(
      ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  if (!file_.is_open()) throw_write_error(path_, errno);
  has_name_ = true;
}

DurableFile::~DurableFile() {
  if (has_name_) ::unlink(temporary_.c_str());
}

void DurableFile::append(Bytes bytes) {
  write_all(file_, bytes, path_);
}

void DurableFile::write_at(std::uint64_t offset, Bytes bytes) {
  write_all_at(file_, offset, bytes, path_);
}

MappedRegion DurableFile::map() const {
  return map_region(file_, MapAccess::ReadOnly, path_);
}

void DurableFile::commit() {
  sync_file(file_, path_);
  if (!has_name_ && ::linkat(AT_FDCWD, descriptor_path(file_).c_str(), AT_FDCWD, temporary_.c_str(),
                             AT_SYMLINK_FOLLOW) != 0) {
    throw_write_error(path_, errno);
  }
  has_name_ = true;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw_write_error(path_, errno);
  has_name_ = false;
  sync_folder(folder_of(path_));
}

void write_durable_file(const std::string& path, Bytes bytes) {
  write_durable_file(path, [bytes](const WritePart& write_part) { write_part(bytes); });
}

void write_durable_file(const std::string& path, const std::function<void(const WritePart&)>& write) {
  DurableFile file(path);
  write([&file](Bytes part) { file.append(part); });
  file.commit();
}

}  // namespace keysieve
