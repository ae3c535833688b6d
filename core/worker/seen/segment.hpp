// A System V segment: the workers of a group may write to it, and no process can make it smaller. A file
// could be truncated by every process that may write to it, and then SIGBUS would kill the others. The
// segment outlives the loader and ends with the machine, or the IPC namespace.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/worker/base/bytes.hpp"

namespace keysieve {

class Segment {
 public:
  Segment() = default;
  // Creates a segment of zeros for its owner and `group`. It takes no memory yet. Its key is stored in `key`
  // before there is a segment, so that one that a crash leaves can be found; 0 if it fails. Throws
  // CannotCreate, Permission; `what` is for the message.
  static Segment create(std::uint32_t& key, std::uint64_t bytes, gid_t group, const std::string& what);
  // Attaches one that exists. Throws MissingInput, Permission or NotTrusted if there is none that `creator`
  // has created with that size, and CannotCreate if there is, but no memory to attach it.
  static Segment attach(std::uint32_t key, std::uint64_t bytes, uid_t creator, const std::string& what);

  Segment(Segment&& other) noexcept
      : key_(other.key_), id_(other.id_), bytes_(std::exchange(other.bytes_, {})) {}
  Segment& operator=(Segment&& other) noexcept;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment() { detach(); }

  // Requires the creator's uid. Throws CannotCreate, Permission.
  void give_to_group(gid_t group, const std::string& what) const;
  // Allocates all pages now: workers then neither wait for one nor are charged for it. Beyond a limit of
  // memory this kills the process, or another one.
  void make_resident() const noexcept;
  // Whether no other process can attach it any more: somebody has removed it. True only if that is certain.
  [[nodiscard]] bool is_removed() const noexcept;

  [[nodiscard]] std::uint32_t key() const noexcept { return key_; }
  [[nodiscard]] MutableBytes bytes() const noexcept { return bytes_; }

 private:
  Segment(std::uint32_t key, int id, std::uint64_t bytes, const std::string& what);
  void detach() noexcept;

  std::uint32_t key_ = 0;
  int id_ = -1;
  MutableBytes bytes_;
};

// Does nothing if there is none, or if another user has created it. Processes that have attached it keep it.
void remove_segment(std::uint32_t key) noexcept;

}  // namespace keysieve
