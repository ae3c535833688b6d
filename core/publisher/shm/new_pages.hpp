// The control page of a set and the live page of a publication as the loader makes them; and the lock that it
// holds on the page of a set.
#pragma once

#include <string>

#include "core/worker/shm/control_file.hpp"
#include "core/worker/shm/live_file.hpp"

namespace keysieve {

// The bytes of a control page with nothing published, and a random instance.
std::array<std::byte, kPageBytes> new_control_page();

// The first fields of a live page.
struct PublicationStamp {
  std::uint64_t instance = 0;
  std::uint64_t publication = 0;
  std::uint64_t generation = 0;
  UnixSeconds published_at = 0;
  LayerGeometry layer{};
  HashSeed seed{};
  std::uint64_t live_keys = 0;
};

// The bytes of a live page, with its checksum; the layer's bytes follow it in the file.
std::array<std::byte, kPageBytes> new_live_page(const PublicationStamp& stamp);

// The lock that a loader holds on the page of its set as long as it lives, for seen sets as well: another
// loader cannot get it, even if the file `lock` was removed and made again. It ends when the descriptor is
// closed. Requires a descriptor that is open for writing. False: another loader has it. A worker that can
// open the page can lock it for reading; that is no obstacle. A file system without such locks is none
// either: the file `lock` then has to do. Throws CannotCreate, Permission; `path` is for messages.
bool lock_page(const FileDescriptor& page, const std::string& path);

}  // namespace keysieve
