// Creates the segments of a seen set, and looks after them.
#pragma once

#include "core/worker/seen/segment.hpp"

namespace keysieve {

// Stores the key of a segment in an entry of the page; 0: none. Release, as SeenWriter::write().
inline void store_key(std::uint32_t& key, std::uint32_t value) noexcept {
  __atomic_store_n(&key, value, __ATOMIC_RELEASE);
}

// Creates a segment of zeros for its owner and `group`. It takes no memory yet. Its key is stored in `key`
// before there is a segment, so that one that a crash leaves can be found; 0 if it fails. Throws
// CannotCreate, Permission; `what` is for the message.
Segment create_segment(std::uint32_t& key, std::uint64_t bytes, gid_t group, const std::string& what);

// Requires the creator's uid. Throws CannotCreate, Permission.
void give_to_group(const Segment& segment, gid_t group, const std::string& what);

// Allocates all pages now: workers then neither wait for one nor are charged for it. Beyond a limit of memory
// this kills the process, or another one.
void make_resident(const Segment& segment) noexcept;

// Whether no other process can attach it any more: it was removed. True only if that is certain.
[[nodiscard]] bool is_removed(const Segment& segment) noexcept;

// Does nothing if there is none, or if another user has created it. Processes that have attached it keep it.
void remove_segment(std::uint32_t key) noexcept;

}  // namespace keysieve
