#include "core/worker/seen/segment.hpp"

#include <sys/ipc.h>
#include <sys/shm.h>

#include <cerrno>

#include "core/worker/base/error.hpp"

namespace keysieve {

Segment Segment::attach(std::uint32_t key, std::uint64_t bytes, uid_t creator, const std::string& what) {
  const int id = ::shmget(static_cast<key_t>(key), 0, 0);
  shmid_ds status{};
  if (id < 0 || ::shmctl(id, IPC_STAT, &status) != 0) {
    if (errno == ENOENT || errno == EIDRM || errno == EINVAL) {
      throw Error(ErrorKind::MissingInput,
                  what + ": its memory is not there: removed, or in another IPC namespace");
    }
    throw_write_error(what + ": cannot find its memory", errno);  // not MissingInput, because it may be there
  }
  if (status.shm_perm.cuid != creator || status.shm_segsz != bytes) {
    throw Error(ErrorKind::NotTrusted,
                what + ": not trusted: a segment of " + std::to_string(status.shm_segsz) + " bytes by uid " +
                    std::to_string(status.shm_perm.cuid) + ", not of " + std::to_string(bytes) +
                    " bytes by uid " + std::to_string(creator));
  }
  return {key, id, bytes, what};
}

Segment::Segment(std::uint32_t key, int id, std::uint64_t bytes, const std::string& what)
    : key_(key), id_(id) {
  void* address = ::shmat(id, nullptr, 0);
  if (reinterpret_cast<std::intptr_t>(address) == -1)
    throw_write_error(what + ": cannot attach its memory", errno);
  bytes_ = {static_cast<std::byte*>(address), bytes};
}

Segment& Segment::operator=(Segment&& other) noexcept {
  detach();
  key_ = other.key_;
  id_ = other.id_;
  bytes_ = std::exchange(other.bytes_, {});
  return *this;
}

void Segment::detach() noexcept {
  if (!bytes_.empty()) ::shmdt(bytes_.data());
  bytes_ = {};
}

}  // namespace keysieve
