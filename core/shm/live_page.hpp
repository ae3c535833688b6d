// The live page beside a publication: what is known of it only on this host, and the geometry of its live
// layer. Written by the loader alone, before the publication becomes current. The layer is empty: layer_bytes
// is 0.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/base/clock.hpp"
#include "core/snapshot/layout.hpp"

namespace keysieve {

inline constexpr std::array<char, 8> kLiveMagic{'K', 'S', 'L', 'I', 'V', 'E', '0', '1'};

struct LivePage {
  std::array<char, 8> magic;
  std::uint64_t instance;     // of the control page it belongs to
  std::uint64_t publication;  // on this host, from 1
  std::uint64_t generation;   // in the store; 0: published from a file
  UnixSeconds published_at;
  std::uint64_t layer_bytes;  // size of the live layer behind this page; 0: empty
  std::uint32_t layer_shard_count;
  std::uint32_t layer_shard_bytes;
  std::uint64_t header_checksum;  // XXH3-64 of the bytes before it

  alignas(
      kCacheLineBytes) std::atomic<std::uint64_t> live_keys;  // added since the snapshot; information only
  LogPosition adds_position;                                  // how far the adds log has been followed
  alignas(kCacheLineBytes) std::array<std::byte, kPageBytes - 2 * kCacheLineBytes> reserved;
};

static_assert(sizeof(LivePage) == kPageBytes && std::is_standard_layout_v<LivePage>);
static_assert(offsetof(LivePage, header_checksum) == 56);
static_assert(offsetof(LivePage, live_keys) == 64);
static_assert(offsetof(LivePage, adds_position) == 72);

struct PublicationStamp {
  std::uint64_t instance;
  std::uint64_t publication;
  std::uint64_t generation;
  UnixSeconds published_at;
};

std::array<std::byte, kPageBytes> new_live_page(const PublicationStamp& stamp);

// Throws DataError unless the page is whole and belongs to that instance and publication.
void check_live_page(const LivePage& page, std::uint64_t instance, std::uint64_t publication,
                     std::string_view path);

}  // namespace keysieve
