#include "core/builder/base/file_io.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "core/worker/base/error.hpp"

namespace keysieve {

void write_all(const FileDescriptor& file, Bytes bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_write_error(path, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void write_all_at(const FileDescriptor& file, std::uint64_t offset, Bytes bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_write_error(path, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

std::optional<std::size_t> read_up_to(const FileDescriptor& file, std::uint64_t offset, MutableBytes bytes) {
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t count =
        ::pread(file.get(), bytes.data() + size, bytes.size() - size, static_cast<off_t>(offset + size));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  return size;
}

void read_all_at(const FileDescriptor& file, std::uint64_t offset, MutableBytes bytes,
                 const std::string& path) {
  const auto size = read_up_to(file, offset, bytes);
  if (!size) throw_read_error(path, errno);
  if (*size < bytes.size()) throw Error(ErrorKind::Data, path + ": became shorter while it was read");
}

MappedRegion map_file(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) throw_read_error(path, errno);
  if (S_ISDIR(stat_of(file, path).st_mode)) throw_read_error(path, EISDIR);
  return map_region(file, MapAccess::ReadOnly, path);
}

}  // namespace keysieve
