#include "core/worker/seen/segment.hpp"

#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/worker/base/error.hpp"
#include "core/worker/base/random.hpp"

namespace keysieve {
namespace {

constexpr int kMode = 0660;
constexpr int kTries = 8;  // a key may be taken

key_t key_of(std::uint32_t key) noexcept {
  return static_cast<key_t>(key);
}

}  // namespace

Segment Segment::create(std::uint32_t& key, std::uint64_t bytes, gid_t group, const std::string& what) {
  int id = -1;
  for (int tries = 0; id < 0 && tries < kTries; ++tries) {
    key = random_value<std::uint32_t>() | 1U;  // 0 is IPC_PRIVATE
    id = ::shmget(key_of(key), bytes, IPC_CREAT | IPC_EXCL | kMode);
    if (id < 0 && errno != EEXIST) break;
  }
  if (id < 0) {
    key = 0;
    const std::string limit = errno == ENOSPC ? " (kernel.shmmni or kernel.shmall)" : "";
    throw_write_error(what + ": cannot create a segment of " + std::to_string(bytes) + " bytes" + limit,
                      errno);
  }
  try {
    Segment segment(key, id, bytes, what);
    segment.give_to_group(group, what);
    return segment;
  } catch (const Error&) {
    ::shmctl(id, IPC_RMID, nullptr);
    key = 0;
    throw;
  }
}

Segment Segment::attach(std::uint32_t key, std::uint64_t bytes, uid_t creator, const std::string& what) {
  const int id = ::shmget(key_of(key), 0, 0);
  shmid_ds status{};
  if (id < 0 || ::shmctl(id, IPC_STAT, &status) != 0) {
    if (errno == ENOENT || errno == EIDRM || errno == EINVAL) {
      throw Error(ErrorKind::MissingInput,
                  what + ": its memory is not there: removed, or in another IPC namespace");
    }
    throw_read_error(what + ": cannot find its memory", errno);
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

void Segment::give_to_group(gid_t group, const std::string& what) const {
  shmid_ds status{};
  if (::shmctl(id_, IPC_STAT, &status) == 0) {
    if (status.shm_perm.gid == group) return;
    status.shm_perm.gid = group;
    if (::shmctl(id_, IPC_SET, &status) == 0) return;
  }
  throw_write_error(what + ": cannot change the group of its memory", errno);
}

// Before Linux 5.14 a page at a time.
void Segment::make_resident() const noexcept {
#ifdef MADV_POPULATE_WRITE
  if (::madvise(bytes_.data(), bytes_.size(), MADV_POPULATE_WRITE) == 0) return;
#endif
  for (std::size_t at = 0; at < bytes_.size(); at += kPageBytes) bytes_[at] = std::byte{0};
}

// A segment that was removed, but is still attached, keeps its number and loses its key.
bool Segment::is_removed() const noexcept {
  shmid_ds status{};
  if (::shmctl(id_, IPC_STAT, &status) == 0) return status.shm_perm.__key != key_of(key_);
  return errno == EINVAL || errno == EIDRM;
}

void Segment::detach() noexcept {
  if (!bytes_.empty()) ::shmdt(bytes_.data());
  bytes_ = {};
}

void remove_segment(std::uint32_t key) noexcept {
  if (key == 0) return;  // IPC_PRIVATE, which would make one
  const int id = ::shmget(key_of(key), 0, 0);
  shmid_ds status{};
  if (id < 0 || ::shmctl(id, IPC_STAT, &status) != 0 || status.shm_perm.cuid != ::geteuid()) return;
  ::shmctl(id, IPC_RMID, nullptr);
}

}  // namespace keysieve
