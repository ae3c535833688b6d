// The chunks that a store holds of a set, whatever its pointer record says, and how those that nobody needs
// are removed. Used by push and delete. Each removal may be repeated, and done by several processes at once.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "tools/records/pointer_record.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

// Chunks per call of the store: 4 MiB in flight.
inline constexpr std::uint32_t kBatchChunks = 64;

// Returns the keys of chunk `first`, below the chunk count, and the following ones, at most kBatchChunks.
std::vector<std::string> chunk_key_batch(const Store& store, const std::string& set_name,
                                         const SnapshotRecord& record, std::uint32_t first);

// The keys of all chunks by their push. None if the store cannot list; it drops what is left by itself.
using StoredChunks = std::map<PushId, std::vector<std::string>>;
// Reads the names of all records in the store.
StoredChunks stored_chunks(Store& store, const std::string& set_name);

// Throw as the store does; some may then be gone.
void remove_chunks(Store& store, std::span<const std::string> keys);
void remove_chunks(Store& store, const std::string& set_name, const SnapshotRecord& record);

// Removes the chunks of obsolete pushes. Before that, makes those obsolete that began before `moment` and are
// not kept: they have failed, or will notice and begin again. Throws as change_pointer() and the store do.
void remove_obsolete_chunks(Store& store, const std::string& set_name, UnixSeconds moment);

}  // namespace keysieve
