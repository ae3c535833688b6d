#include "core/publisher/shm/new_pages.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "core/builder/base/random.hpp"
#include "core/publisher/shm/publisher_folder.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/shm/mapped_page.hpp"

namespace keysieve {

std::array<std::byte, kPageBytes> new_control_page() {
  ControlPage page{};
  page.magic = kControlMagic;
  page.endian_mark = kEndianMark;
  page.abi_major = kControlAbiMajor;
  page.abi_minor = kControlAbiMinor;
  page.instance = random_value<std::uint64_t>();
  page.header_checksum = header_checksum(page);
  std::array<std::byte, kPageBytes> bytes;
  std::memcpy(bytes.data(), static_cast<const void*>(&page), sizeof page);
  return bytes;
}

std::array<std::byte, kPageBytes> new_live_page(const PublicationStamp& stamp) {
  LivePage page{};
  page.magic = kLiveMagic;
  page.instance = stamp.instance;
  page.publication = stamp.publication;
  page.generation = stamp.generation;
  page.published_at = stamp.published_at;
  page.layer_shard_count = stamp.layer.shard_count;
  page.layer_shard_bytes = stamp.layer.shard_count == 0 ? 0 : kLayerShardBytes;
  page.seed = stamp.seed;
  page.header_checksum = header_checksum(page);
  page.live_keys = stamp.live_keys;
  std::array<std::byte, kPageBytes> bytes;
  std::memcpy(bytes.data(), static_cast<const void*>(&page), sizeof page);
  return bytes;
}

bool lock_page(const FileDescriptor& page, const std::string& path) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(page.get(), F_OFD_SETLK, &lock) == 0) return true;
  if (errno == EINVAL || errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP) return true;
  if (errno != EAGAIN) throw_lock_error(path, errno);
  lock.l_type = F_RDLCK;
  if (::fcntl(page.get(), F_OFD_GETLK, &lock) != 0) throw_lock_error(path, errno);
  return lock.l_type == F_UNLCK;
}

}  // namespace keysieve
