// The live file of a publication: a page with facts that only this host knows, followed by the live layer.
// Written before the publication becomes current; afterwards only its atomics change, and only the loader
// changes them. Readers map it read-only.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "core/worker/base/bytes.hpp"
#include "core/worker/base/clock.hpp"
#include "core/worker/shm/live_layer.hpp"
#include "core/worker/shm/mapped_page.hpp"
#include "core/worker/shm/set_folder.hpp"

namespace keysieve {

inline constexpr std::array<char, 8> kLiveMagic{'K', 'S', 'L', 'I', 'V', 'E', '0', '1'};

// Identifies a publication of a control page.
struct PublicationId {
  std::uint64_t instance = 0;
  std::uint64_t publication = 0;

  friend bool operator==(const PublicationId&, const PublicationId&) = default;
};

struct LivePage {
  std::array<char, 8> magic;
  std::uint64_t instance;     // of the control page it belongs to
  std::uint64_t publication;  // on this host, from 1
  std::uint64_t generation;   // in the store; 0: published from a file
  UnixSeconds published_at;
  HashSeed seed;                    // of the snapshot; the layer's keys are hashed with it too
  std::uint32_t layer_shard_count;  // 0: no layer
  std::uint32_t layer_shard_bytes;
  std::uint64_t header_checksum;  // XXH3-64 of the bytes before it

  // Number of keys in the layer. Release-stored after their bits, by LayerWriter::add; acquire-loaded by
  // readers at every lookup.
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> live_keys;

  alignas(kCacheLineBytes) std::array<std::byte, kPageBytes - 3 * kCacheLineBytes> reserved;
};

static_assert(sizeof(LivePage) == kPageBytes && std::is_standard_layout_v<LivePage>);
static_assert(offsetof(LivePage, header_checksum) == 64);
static_assert(offsetof(LivePage, live_keys) == 128);

// Throws Data unless the page is intact, belongs to that publication, and is followed by exactly the layer
// that it describes. `file_bytes` is the size of both.
void check_live_page(const LivePage& page, std::uint64_t file_bytes, const PublicationId& id,
                     std::string_view path);

// Page is LivePage, or const. `file_name` is that of the publication's live file, or a temporary one. Throws
// MissingInput, Permission, NotTrusted, Data; all name the file.
template <typename Page>
MappedPage<Page> open_live_page(const SetFolder& folder, const std::string& file_name,
                                const PublicationId& id) {
  const std::string path = folder.path_of(file_name);
  MappedPage<Page> mapped(folder.open_file(file_name, MappedPage<Page>::kOpenFlags), path);
  check_live_page(mapped.page(), mapped.size(), id, path);
  return mapped;
}

// The lanes of the layer behind a page that was checked.
inline LayerLane* lanes_of(const MappedPage<LivePage>& live) noexcept {
  return reinterpret_cast<LayerLane*>(live.address() + sizeof(LivePage));
}
template <typename Page>
LiveLayer layer_of(const MappedPage<Page>& live) noexcept {
  const LayerGeometry geometry{live.page().layer_shard_count};
  if (geometry.shard_count == 0) return {};
  const auto* lanes = reinterpret_cast<const LayerLane*>(live.address() + sizeof(LivePage));
  return {lanes, geometry, &live.page().live_keys};
}

}  // namespace keysieve
