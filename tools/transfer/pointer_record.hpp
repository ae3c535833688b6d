// The pointer record <prefix>:<set>:current: says which snapshot is the current generation, and which older
// ones are kept for rollback. JSON text, so that it can be read with any client of the store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/snapshot/layout.hpp"

namespace keysieve {

struct SnapshotRecord {
  std::uint64_t generation = 0;
  BuildId build_id{};
  std::uint32_t chunk_count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;  // XXH3-64 of all bytes of the snapshot
  UnixSeconds as_of = 0;
  std::uint64_t key_count = 0;

  // What the next build keeps to, see current_geometry().
  std::string kind;  // by name, which a reader need not know
  std::uint8_t hash_count = 0;
  std::uint32_t shard_bytes = 0;
  std::uint32_t shard_count = 0;
  std::uint64_t seed = 0;

  friend bool operator==(const SnapshotRecord&, const SnapshotRecord&) = default;
};

inline constexpr std::size_t kKeptGenerations = 3;  // the current one and two before it

struct PointerRecord {
  SnapshotRecord current;
  std::vector<SnapshotRecord> previous;  // newest first, at most kKeptGenerations - 1

  friend bool operator==(const PointerRecord&, const PointerRecord&) = default;
};

std::string encode(const PointerRecord& record);
// `source` names the record in messages. Throws DataError; IncompatibleError for a newer record format.
PointerRecord decode_pointer_record(std::string_view text, const std::string& source);

}  // namespace keysieve
