// The pointer record as it lies in a store, with the exact text that a compare-and-set expects. Used by push
// and pull.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/snapshot/snapshot.hpp"
#include "tools/stores/store.hpp"
#include "tools/transfer/pointer_record.hpp"

namespace keysieve {

// Chunks per call of the store: 4 MiB in flight.
inline constexpr std::uint32_t kBatchChunks = 64;

// The keys of chunk `first`, below the build's chunk count, and those after it, kBatchChunks at most.
std::vector<std::string> chunk_key_batch(const Store& store, const std::string& set_name,
                                         const BuildId& build_id, std::uint32_t chunk_count,
                                         std::uint32_t first);

struct StoredPointer {
  std::optional<std::string> text;  // both are absent when the set was never pushed
  std::optional<PointerRecord> record;
};

std::string pointer_key(const Store& store, const std::string& set_name);

// Throws DataError, IncompatibleError, and as the store does.
StoredPointer read_stored_pointer(Store& store, const std::string& set_name);

// What the snapshot says of itself; the generation is still 0.
SnapshotRecord describe(const SnapshotView& snapshot);

}  // namespace keysieve
