#include "tools/program/durable_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "core/builder/base/file_io.hpp"
#include "core/builder/base/folder_names.hpp"
#include "core/builder/base/random.hpp"
#include "core/worker/base/mapped_region.hpp"

namespace keysieve {
namespace {

constexpr std::string_view kUnfinished = ".put-";

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
FileDescriptor open_nameless(const std::string& folder, mode_t mode) {
  FileDescriptor file(::open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, mode));
  if (file.is_open() && ::access(descriptor_path(file).c_str(), F_OK) != 0) return {};
  return file;
}

// A file in the making, or what a killed process has left of one.
bool is_unfinished(std::string_view file_name) {
  return file_name.starts_with(kUnfinished) &&
         file_name.find_first_not_of("0123456789", kUnfinished.size()) == std::string_view::npos;
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

// Hosts that share a network file system may write the same file at once.
DurableFile::DurableFile(std::string path, const FileStyle& style) : path_(std::move(path)), style_(style) {
  if (style_.replaces == Replaces::Files) check_replaceable(path_);
  const std::string folder = folder_of(path_);
  temporary_ = folder + "/" + std::string(kUnfinished) + std::to_string(random_value<std::uint64_t>());
  file_ = open_nameless(folder, style_.mode);
  if (!file_.is_open()) {
    file_ = FileDescriptor(
        ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, style_.mode));
    if (!file_.is_open()) style_.fail(path_, errno);
    has_name_ = true;
  }
  try {
    if (style_.made != nullptr) style_.made(file_, folder);
  } catch (...) {
    if (has_name_) ::unlink(temporary_.c_str());
    throw;
  }
}

DurableFile::DurableFile(DurableFile&& other) noexcept
    : path_(std::move(other.path_)),
      style_(other.style_),
      temporary_(std::move(other.temporary_)),
      has_name_(std::exchange(other.has_name_, false)),
      file_(std::move(other.file_)) {}

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

void DurableFile::sync() const {
  if (::fsync(file_.get()) != 0) style_.fail(path_ + ": cannot sync", errno);
}

void DurableFile::link_as(const std::string& name) {
  if (::linkat(AT_FDCWD, descriptor_path(file_).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0)
    style_.fail(path_, errno);
}

void DurableFile::give_name() {
  if (!has_name_) link_as(temporary_);
  has_name_ = true;
}

void DurableFile::close() {
  give_name();
  file_.close();
}

// File systems without nameless files, as FUSE, 9p and gVisor, may lack link and RENAME_NOREPLACE too. There
// an empty file takes the path first; it stays if the process is killed before the rename.
void DurableFile::move() {
  if (style_.replaces == Replaces::Nothing) {
    if (!has_name_) return link_as(path_);
    const FileDescriptor placeholder(
        ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, style_.mode));
    if (!placeholder.is_open()) style_.fail(path_, errno);
  }
  give_name();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    if (style_.replaces == Replaces::Nothing) ::unlink(path_.c_str());
    style_.fail(path_, reason);
  }
  has_name_ = false;
}

// What replaces nothing is not there after a failure, or it could not be tried again.
void DurableFile::commit() {
  sync();
  move();
  try {
    sync_folder(folder_of(path_));
  } catch (const Error&) {
    if (style_.replaces == Replaces::Nothing) ::unlink(path_.c_str());
    throw;
  }
}

void remove_unfinished(const std::string& folder, std::chrono::seconds age) noexcept try {
  namespace fs = std::filesystem;
  const auto before = fs::file_time_type::clock::now() - age;
  std::error_code ignored;
  for (const std::string& name : names_in(folder, ignored)) {
    if (!is_unfinished(name)) continue;
    const fs::path path = fs::path(folder) / name;
    const auto written_at = fs::last_write_time(path, ignored);
    if (!ignored && written_at <= before) ::unlink(path.c_str());
  }
} catch (const std::bad_alloc&) {
}

void write_durable_file(const std::string& path, Bytes bytes) {
  DurableFile file(path);
  file.append(bytes);
  file.commit();
}

}  // namespace keysieve
