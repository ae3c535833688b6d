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
  // Attaches the segment with that key; `what` names it in messages. Throws MissingInput if there is none.
  // Throws NotTrusted if a user other than `creator` created it, or its size differs. Throws Permission, and
  // CannotCreate if there is no memory to attach it, or the system does not say whether it exists.
  static Segment attach(std::uint32_t key, std::uint64_t bytes, uid_t creator, const std::string& what);

  // Attaches the one with that key and number, which has so many bytes. Throws CannotCreate, Permission.
  Segment(std::uint32_t key, int id, std::uint64_t bytes, const std::string& what);

  Segment(Segment&& other) noexcept
      : key_(other.key_), id_(other.id_), bytes_(std::exchange(other.bytes_, {})) {}
  Segment& operator=(Segment&& other) noexcept;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment() { detach(); }

  [[nodiscard]] std::uint32_t key() const noexcept { return key_; }
  // The kernel's number of it, which it keeps when it is removed.
  [[nodiscard]] int id() const noexcept { return id_; }
  [[nodiscard]] MutableBytes bytes() const noexcept { return bytes_; }

 private:
  void detach() noexcept;

  std::uint32_t key_ = 0;
  int id_ = -1;
  MutableBytes bytes_;
};

}  // namespace keysieve
