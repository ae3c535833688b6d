#include "core/worker/base/mapped_region.hpp"

#include <boost/interprocess/mapped_region.hpp>
#include <utility>

#include "core/worker/base/error.hpp"
#include "core/worker/base/file_descriptor.hpp"

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

}  // namespace

MappedRegion::MappedRegion() noexcept = default;
MappedRegion::~MappedRegion() = default;

MappedRegion::MappedRegion(MappedRegion&& other) noexcept
    : region_(std::move(other.region_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedRegion& MappedRegion::operator=(MappedRegion&& other) noexcept {
  region_ = std::move(other.region_);
  bytes_ = std::exchange(other.bytes_, {});
  return *this;
}

bool MappedRegion::flush() noexcept {
  constexpr bool kInBackground = false;
  return region_ == nullptr || region_->flush(0, 0, kInBackground);
}

MappedRegion map_region(const FileDescriptor& file, MapAccess access, std::size_t bytes,
                        const std::string& path) {
  namespace ipc = boost::interprocess;
  const ipc::mode_t mode = access == MapAccess::ReadOnly ? ipc::read_only : ipc::read_write;
  try {
    MappedRegion mapped;
    mapped.region_ = std::make_unique<ipc::mapped_region>(OpenFile{file.get()}, mode, 0, bytes);
    mapped.bytes_ = {static_cast<std::byte*>(mapped.region_->get_address()), mapped.region_->get_size()};
    return mapped;
  } catch (const ipc::interprocess_exception& failure) {
    throw_write_error(path + ": cannot map", failure.get_native_error());
  }
}

}  // namespace keysieve
