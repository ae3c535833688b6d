#include "tools/transfer/delete_set.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "core/worker/base/clock.hpp"
#include "tools/records/chunk.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/pointer_changes.hpp"
#include "tools/transfer/store_bypass.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {
namespace {

// Returns false if there is nothing to change.
bool discard_all(PointerRecord& pointer, const LogPosition& end_of_log) {
  const bool is_trimmed = pointer.adds_trimmed_to >= end_of_log;
  const auto kept = kept_generations(pointer);
  if (is_trimmed && kept.empty() && pointer.pending.empty()) return false;
  pointer.current.reset();
  pointer.previous.clear();
  for (const SnapshotRecord& record : kept) discard(pointer, chunks_of(record));
  while (!pointer.pending.empty()) discard(pointer, chunks_of(pointer.pending.front()));
  pointer.adds_trimmed_to = std::max(pointer.adds_trimmed_to, end_of_log);
  pointer.adds_log = {.lost_to = pointer.adds_log.lost_to};  // nobody misses what is trimmed now
  return true;
}

// The keys of all chunks that the store has of the set, whatever its record lists.
using StoredChunks = std::map<PushId, std::set<std::string>>;
StoredChunks stored_chunks(Store& store, const std::string& set_name) {
  StoredChunks chunks;
  if (!store.abilities().list) return chunks;
  for (const std::string& key : store.keys_with_prefix(store.prefix() + ":" + set_name + ":")) {
    if (const auto chunk = parse_chunk_key(store.prefix(), key)) chunks[chunk->push_id].insert(key);
  }
  return chunks;
}

void remove_all(Store& store, const std::set<std::string>& keys) {
  const std::vector<std::string> all(keys.begin(), keys.end());
  for (std::span<const std::string> rest = all; !rest.empty();) {
    const auto batch = rest.first(std::min<std::size_t>(kBatchChunks, rest.size()));
    store.remove_many(batch);
    rest = rest.subspan(batch.size());
  }
}

// Clears one whose time has passed. Returns true if one is in force.
bool keep_bypass(Store& store, const std::string& set_name) {
  const StoreBypasses own{.of_set = read_store_bypasses(store, set_name).of_set, .of_all = {}};
  if (!own.of_set) return false;
  if (bypassed_until(own, unix_now())) return true;
  clear_store_bypass(store, set_name);
  return false;
}

}  // namespace

bool has_anything_of(Store& store, const std::string& set_name) {
  const PointerRecord pointer = read_stored_pointer(store, set_name).value_or(PointerRecord{});
  return pointer.current || !pointer.previous.empty() || !pointer.pending.empty() ||
         !pointer.garbage.empty() || has_adds(store, set_name) || !stored_chunks(store, set_name).empty();
}

DeletedSet delete_set(Store& store, const std::string& set_name) {
  // With no key in the log, the snapshot may come back: none would be lost.
  const LogPosition end_of_log =
      has_adds(store, set_name) ? store.end_of(adds_log(store, set_name)) : LogPosition{};
  // Reads the names first and the record later. A push is announced before it puts chunks, so each of these
  // is of a push that the record lists by then, or that can never become current.
  const StoredChunks stored = stored_chunks(store, set_name);
  DeletedSet deleted;
  const PointerRecord pointer = change_pointer(store, set_name, [&](PointerRecord& changed) {
    const std::uint64_t generations = kept_generations(changed).size();
    if (!discard_all(changed, end_of_log)) return false;
    deleted.generations = generations;
    return true;
  });
  for (const Garbage& push : pointer.garbage) deleted.chunks += push.chunk_count;
  remove_garbage(store, set_name, pointer);
  for (const auto& [push_id, keys] : stored) {
    if (is_garbage(pointer, push_id)) continue;
    remove_all(store, keys);
    deleted.chunks += keys.size();
  }
  trim_adds(store, set_name, pointer);
  deleted.is_still_bypassed = keep_bypass(store, set_name);
  return deleted;
}

}  // namespace keysieve
