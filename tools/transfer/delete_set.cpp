#include "tools/transfer/delete_set.hpp"

#include <algorithm>

#include "core/worker/base/clock.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/garbage.hpp"
#include "tools/transfer/pointer_changes.hpp"
#include "tools/transfer/store_bypass.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {
namespace {

bool has_records(const PointerRecord& pointer) {
  return pointer.current || !pointer.previous.empty() || !pointer.pending.empty() || !pointer.garbage.empty();
}

// Returns false if there is nothing to change.
bool discard_all(PointerRecord& pointer, const LogPosition& end_of_log) {
  const bool is_trimmed = pointer.adds_trimmed_to >= end_of_log;
  const auto kept = kept_generations(pointer);
  if (pointer.is_deleted && is_trimmed && kept.empty() && pointer.pending.empty()) return false;
  pointer.is_deleted = true;
  pointer.current.reset();
  pointer.previous.clear();
  for (const SnapshotRecord& record : kept) discard(pointer, chunks_of(record));
  while (!pointer.pending.empty()) {
    const PendingPush push = pointer.pending.front();
    discard(pointer, {push.push_id, push.chunk_count});
  }
  pointer.adds_trimmed_to = std::max(pointer.adds_trimmed_to, end_of_log);
  pointer.adds_log = {.lost_to = pointer.adds_log.lost_to};  // nobody misses what is trimmed now
  return true;
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
  const auto pointer = read_stored_pointer(store, set_name);
  return (pointer && (has_records(*pointer) || !pointer->is_deleted)) || has_adds(store, set_name);
}

DeletedSet delete_set(Store& store, const std::string& set_name) {
  // With nothing in the log but notices, the snapshot may come back: no key would be lost.
  const LogPosition end_of_log =
      has_adds(store, set_name) ? store.end_of(adds_log(store, set_name)) : LogPosition{};
  DeletedSet deleted;
  const PointerRecord pointer = change_pointer(store, set_name, [&](PointerRecord& changed) {
    const std::uint64_t generations = kept_generations(changed).size();
    if (!discard_all(changed, end_of_log)) return false;
    deleted.generations = generations;
    return true;
  });
  for (const Garbage& push : pointer.garbage) deleted.chunks += push.chunk_count;
  remove_garbage(store, set_name, pointer);
  trim_adds(store, set_name, pointer);
  deleted.is_still_bypassed = keep_bypass(store, set_name);
  return deleted;
}

}  // namespace keysieve
