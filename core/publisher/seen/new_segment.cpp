#include "core/publisher/seen/new_segment.hpp"

#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cerrno>

#include "core/builder/base/random.hpp"
#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

constexpr int kMode = 0660;
constexpr int kTries = 8;  // a key may be taken

key_t key_of(std::uint32_t key) noexcept {
  return static_cast<key_t>(key);
}

}  // namespace

Segment create_segment(std::uint32_t& key, std::uint64_t bytes, gid_t group, const std::string& what) {
  int id = -1;
  for (int tries = 0; id < 0 && tries < kTries; ++tries) {
    store_key(key, random_value<std::uint32_t>() | 1U);  // 0 is IPC_PRIVATE
    id = ::shmget(key_of(key), bytes, IPC_CREAT | IPC_EXCL | kMode);
    if (id < 0 && errno != EEXIST) break;
  }
  if (id < 0) {
    store_key(key, 0);
    const std::string limit = errno == ENOSPC   ? " (kernel.shmmni or kernel.shmall)"
                              : errno == EINVAL ? " (kernel.shmmax)"
                                                : "";
    throw_write_error(what + ": cannot create a segment of " + std::to_string(bytes) + " bytes" + limit,
                      errno);
  }
  try {
    Segment segment(key, id, bytes, what);
    give_to_group(segment, group, what);
    return segment;
  } catch (const Error&) {
    ::shmctl(id, IPC_RMID, nullptr);
    store_key(key, 0);
    throw;
  }
}

void give_to_group(const Segment& segment, gid_t group, const std::string& what) {
  shmid_ds status{};
  if (::shmctl(segment.id(), IPC_STAT, &status) == 0) {
    if (status.shm_perm.gid == group) return;
    status.shm_perm.gid = group;
    if (::shmctl(segment.id(), IPC_SET, &status) == 0) return;
  }
  throw_write_error(what + ": cannot change the group of its memory", errno);
}

// Before Linux 5.14 a page at a time.
void make_resident(const Segment& segment) noexcept {
  const MutableBytes bytes = segment.bytes();
#ifdef MADV_POPULATE_WRITE
  if (::madvise(bytes.data(), bytes.size(), MADV_POPULATE_WRITE) == 0) return;
#endif
  for (std::size_t at = 0; at < bytes.size(); at += kPageBytes) bytes[at] = std::byte{0};
}

// A segment that was removed, but is still attached, keeps its number and loses its key.
bool is_removed(const Segment& segment) noexcept {
  shmid_ds status{};
  if (::shmctl(segment.id(), IPC_STAT, &status) == 0) return status.shm_perm.__key != key_of(segment.key());
  return errno == EINVAL || errno == EIDRM;
}

void remove_segment(std::uint32_t key) noexcept {
  if (key == 0) return;  // IPC_PRIVATE, which would make one
  const int id = ::shmget(key_of(key), 0, 0);
  shmid_ds status{};
  if (id < 0 || ::shmctl(id, IPC_STAT, &status) != 0 || status.shm_perm.cuid != ::geteuid()) return;
  ::shmctl(id, IPC_RMID, nullptr);
}

}  // namespace keysieve
