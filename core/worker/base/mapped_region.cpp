#include "core/worker/base/mapped_region.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <boost/interprocess/mapped_region.hpp>
#include <utility>

#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

// An open file, in the form boost::interprocess::mapped_region expects. Boost's own file_mapping opens by
// path and follows symbolic links; here the caller has opened and checked the file first.
struct OpenFile {
  int fd;

  [[nodiscard]] boost::interprocess::mapping_handle_t get_mapping_handle() const noexcept {
    return boost::interprocess::ipcdetail::mapping_handle_from_file_handle(fd);
  }
};

using PageWords = std::array<std::uint64_t, kPageBytes / sizeof(std::uint64_t)>;

// Others may be writing to it.
PageWords first_page_of(const std::byte* mapping) noexcept {
  using Word [[gnu::may_alias]] = std::uint64_t;
  const auto* from = reinterpret_cast<const Word*>(mapping);
  PageWords words;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = __atomic_load_n(from + i, __ATOMIC_ACQUIRE);
  return words;
}

}  // namespace

MappedRegion::MappedRegion() noexcept = default;
MappedRegion::~MappedRegion() = default;

MappedRegion::MappedRegion(MappedRegion&& other) noexcept
    : region_(std::move(other.region_)),
      bytes_(std::exchange(other.bytes_, {})),
      identity_(other.identity_),
      path_(std::move(other.path_)) {}

MappedRegion& MappedRegion::operator=(MappedRegion&& other) noexcept {
  region_ = std::move(other.region_);
  bytes_ = std::exchange(other.bytes_, {});
  identity_ = other.identity_;
  path_ = std::move(other.path_);
  return *this;
}

MappedRegion::Found MappedRegion::found_at(const std::string& path) const {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0)
    return identity_of(status) == identity_ && shows_its_path() ? Found::This : Found::Another;
  if (errno == ENOENT || errno == ENOTDIR) return Found::None;
  throw_read_error(path, errno);
}

// A word that changes meanwhile is what it was before or what it is afterwards.
bool MappedRegion::shows_its_path() const noexcept {
  if (path_.empty()) return true;
  const FileDescriptor file(::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return true;
  const PageWords before = first_page_of(address());
  PageWords read;
  if (::pread(file.get(), read.data(), sizeof read, 0) != static_cast<ssize_t>(sizeof read)) return true;
  const PageWords after = first_page_of(address());
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (read[i] != before[i] && read[i] != after[i]) return false;
  }
  return true;
}

bool MappedRegion::flush() noexcept {
  constexpr bool kInBackground = false;
  return region_ == nullptr || region_->flush(0, 0, kInBackground);
}

MappedRegion map_region(const FileDescriptor& file, MapAccess access, const std::string& path,
                        std::size_t least_bytes) {
  namespace ipc = boost::interprocess;
  const ipc::mode_t mode = access == MapAccess::ReadOnly ? ipc::read_only : ipc::read_write;
  const auto status = stat_of(file, path);
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes < least_bytes)
    throw Error(ErrorKind::Data, path + ": is cut short: " + std::to_string(bytes) + " bytes");
  MappedRegion mapped;
  mapped.identity_ = identity_of(status);
  if (bytes == 0) return mapped;
  try {
    mapped.region_ = std::make_unique<ipc::mapped_region>(OpenFile{file.get()}, mode, 0, bytes);
    mapped.bytes_ = {static_cast<std::byte*>(mapped.region_->get_address()), mapped.region_->get_size()};
    if (access == MapAccess::ReadOnly && !is_in_memory(file, path)) mapped.path_ = path;
    return mapped;
  } catch (const ipc::interprocess_exception& failure) {
    throw_write_error(path + ": cannot map", failure.get_native_error());
  }
}

}  // namespace keysieve
