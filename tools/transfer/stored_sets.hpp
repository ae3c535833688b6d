// What a store holds: its sets by their pointer records, the chunks of a set whatever its record says, and
// its seen sets by their logs. Used by push, pull and delete, for chunks, by the loader, for seen sets, and
// by the verbs, also to suggest a name for a mistyped one.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/worker/base/error.hpp"
#include "tools/records/pointer_record.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

struct StoredSet {
  std::string name;
  PointerRecord pointer{};         // whose `current` is set, unless there is a failure
  std::optional<Error> failure{};  // why the record cannot be used
};

// One record is at fault; the others can be read.
bool is_about_a_record(const Error& error) noexcept;

// Returns the sets that have a current generation, or a record that cannot be used, by name. Reads the names
// of all records in the store. Throws as Store::keys_with_prefix() does, and when the store does not answer.
std::vector<StoredSet> stored_sets(Store& store);

// Chunks per call of the store: 4 MiB in flight.
inline constexpr std::uint32_t kBatchChunks = 64;

// Returns the keys of chunk `first`, below the chunk count, and the following ones, at most kBatchChunks.
std::vector<std::string> chunk_key_batch(const Store& store, const std::string& set_name,
                                         const SnapshotRecord& record, std::uint32_t first);

// The keys of all chunks by their push. None if the store cannot list; it drops what is left by itself.
using StoredChunks = std::map<PushId, std::vector<std::string>>;
// Reads the names of all records in the store.
StoredChunks stored_chunks(Store& store, const std::string& set_name);

// Each removal may be repeated, and done by several processes at once. Throw as the store does; some may then
// be gone.
void remove_chunks(Store& store, std::span<const std::string> keys);
void remove_chunks(Store& store, const std::string& set_name, const SnapshotRecord& record);

// Removes the chunks of obsolete pushes. Before that, makes those obsolete that began before `moment` and are
// not kept: they have failed, or will notice and begin again. Throws as change_pointer() and the store do.
void remove_obsolete_chunks(Store& store, const std::string& set_name, UnixSeconds moment);

// The name of the log of a seen set, whose entries are those of tools/loader/seen/seen_log.hpp:
// <prefix>:seen.d:<set>:log
std::string seen_log(const Store& store, const std::string& set_name);

// Whether any host has saved a seen set of that name in the store, and it was not deleted since. False for a
// store without logs. Throws as Store::read_after().
bool holds_seen_set(Store& store, const std::string& set_name);

// Removes all entries of its log. The log itself stays, empty, so that its positions go on rising: a host
// that still has the set misses nothing that is sent later. Throws as Store::trim().
void delete_seen_set(Store& store, const std::string& set_name);

}  // namespace keysieve
