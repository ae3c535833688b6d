// The pointer record as it lies in a store, and how it is changed there. Used by push, pull, rollback and gc.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/snapshot/snapshot.hpp"
#include "tools/stores/store.hpp"
#include "tools/transfer/pointer_record.hpp"

namespace keysieve {

// Chunks per call of the store: 4 MiB in flight.
inline constexpr std::uint32_t kBatchChunks = 64;

// The keys of chunk `first`, below the push's chunk count, and those after it, kBatchChunks at most.
std::vector<std::string> chunk_key_batch(const Store& store, const std::string& set_name,
                                         const PushId& push_id, std::uint32_t chunk_count,
                                         std::uint32_t first);

std::string pointer_key(const Store& store, const std::string& set_name);
// The other way round; nothing for a key of another kind.
std::optional<std::string> set_of_pointer_key(const Store& store, std::string_view key);

// Nothing for a set without a record. Throws Data, Incompatible, and as the store does.
std::optional<PointerRecord> read_stored_pointer(Store& store, const std::string& set_name);

// Changes the record; false when there is nothing (more) to change. Called again with what others made of it
// meanwhile, and with its own result when only the store's answer was lost: so it must see when it is done.
using PointerChange = std::function<bool(PointerRecord& pointer)>;

// Changes the record by compare-and-set, from an empty one where there is none. Returns it as it is then.
// Throws Locked after too many lost races, as the store does, and what `change` throws; then nothing is
// changed, unless it is Unavailable: then it may be.
PointerRecord change_pointer(Store& store, const std::string& set_name, const PointerChange& change);

// The same for a change that makes what this push brought current. Throws Unconfirmed
// too, which says which generation is current: the store does not confirm it, as when replicas miss it.
PointerRecord move_current(Store& store, const std::string& set_name, const PushId& push_id,
                           const PointerChange& change);

// What the snapshot says of itself; generation and push id are still 0.
SnapshotRecord describe(const SnapshotView& snapshot);

}  // namespace keysieve
