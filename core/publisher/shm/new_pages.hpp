// The bytes of a control page and of a live page when they are new.
#pragma once

#include "core/worker/shm/control_file.hpp"
#include "core/worker/shm/live_file.hpp"

namespace keysieve {

// Nothing published, random instance.
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

// With its checksum; the layer's bytes follow it in the file.
std::array<std::byte, kPageBytes> new_live_page(const PublicationStamp& stamp);

}  // namespace keysieve
