// The counters of a counting set: how many keys set each bit of its snapshot, so that keys can be removed. An
// object of its own next to the snapshot, only for programs that change the set: loaders do not fetch it and
// readers do not need it. docs/snapshot_format.md has the byte table. Used by builder and editor.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/builder/base/running_checksum.hpp"
#include "core/builder/filters/filter_kind.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/checksum.hpp"
#include "core/worker/snapshot/snapshot.hpp"

namespace keysieve {

inline constexpr std::array<char, 8> kCountersMagic{'K', 'S', 'C', 'O', 'U', 'N', 'T', 'S'};
inline constexpr std::uint16_t kCountersFormat = 1;

struct CountersHeader {
  std::array<char, 8> magic;
  std::uint16_t format;
  std::array<std::uint8_t, 6> reserved;  // zero
  BuildId build_id;                      // of the snapshot
  std::uint64_t bytes;                   // of header and counters
  std::uint64_t checksum;                // XXH3-64 of the counters
  std::uint64_t reserved_too;            // zero
  std::uint64_t header_checksum;         // XXH3-64 of all header bytes before it
};

static_assert(std::is_trivially_copyable_v<CountersHeader> && std::is_standard_layout_v<CountersHeader>);
static_assert(sizeof(CountersHeader) == 64);
static_assert(offsetof(CountersHeader, format) == 8);
static_assert(offsetof(CountersHeader, build_id) == 16);
static_assert(offsetof(CountersHeader, bytes) == 32);
static_assert(offsetof(CountersHeader, checksum) == 40);
static_assert(offsetof(CountersHeader, header_checksum) == 56);

// Size of the whole object: four times the shards, and the header.
constexpr std::uint64_t counters_bytes_of(const SnapshotLayout& layout) {
  return sizeof(CountersHeader) + counters_bytes_of(layout.shards.bytes);
}

// The counters of shard `index`.
MutableBytes shard_counters(MutableBytes counters, std::uint64_t index, std::uint32_t shard_bytes) noexcept;

// Makes the counters of a snapshot shard by shard, in order. Its kind must be able to count. Throws what
// `write_at` throws. One thread; the snapshot need not outlive the constructor.
class CountersWriter {
 public:
  CountersWriter(const SnapshotView& snapshot, WriteAt write_at);

  // Takes all keys of the next shard, without duplicates.
  void add_shard(std::span<const KeyHash> keys);
  // Call after the last shard.
  void finish();

 private:
  const FilterKind& kind_;
  FilterParams params_;
  BuildId build_id_;
  WriteAt write_at_;
  std::uint64_t written_ = sizeof(CountersHeader);
  RunningChecksum checksum_;
  std::vector<std::byte> counters_;  // of one shard
  std::vector<std::byte> scratch_;   // its bits, which the snapshot already has
};

// Writes the header; the last step of making or changing counters.
void seal_counters(MutableBytes counters, const BuildId& build_id);

// Throws Data that names `source` unless these are the intact counters of this snapshot: right build id, size
// and checksums, and a counter of 0 for exactly the bits that are not set; Incompatible for another format.
// Reads all bytes of both.
void check_counters(Bytes counters, const SnapshotView& snapshot, std::string_view source);

}  // namespace keysieve
