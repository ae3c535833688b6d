#include "tools/transfer/delete_set.hpp"

#include <algorithm>

#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/store_bypass.hpp"
#include "tools/transfer/stored_chunks.hpp"
#include "tools/transfer/stored_pointer.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

// What stays of the record: nobody misses an adds log that is trimmed now.
PointerRecord without_generations(const PointerRecord& pointer, const PushId& newest_stored,
                                  const LogPosition& end_of_log) {
  return {
      .chunks_removed_to = std::max(newest_push(pointer), newest_stored),
      .adds_trimmed_to = std::max(pointer.adds_trimmed_to, end_of_log),
      .adds_log = {.lost_to = pointer.adds_log.lost_to},
      .bypass_until = is_in_force(pointer.bypass_until, unix_now()) ? pointer.bypass_until : std::nullopt};
}

}  // namespace

bool has_anything_of(Store& store, const std::string& set_name) {
  return read_pointer(store, set_name) || has_adds(store, set_name) ||
         !stored_chunks(store, set_name).empty();
}

DeletedSet delete_set(Store& store, const std::string& set_name) {
  // With no key in the log, the snapshot may come back: none would be lost.
  const LogPosition end_of_log =
      has_adds(store, set_name) ? store.end_of(adds_log(store, set_name)) : LogPosition{};
  StoredChunks chunks = stored_chunks(store, set_name);
  const PushId newest_stored = chunks.empty() ? PushId{} : chunks.rbegin()->first;
  std::vector<SnapshotRecord> generations;
  const PointerRecord pointer = change_pointer(store, set_name, [&](PointerRecord& changed) {
    PointerRecord rest = without_generations(changed, newest_stored, end_of_log);
    if (rest == changed) return false;
    if (changed.current) generations = kept_generations(changed);
    changed = std::move(rest);
    return true;
  });
  DeletedSet deleted{.generations = generations.size(),
                     .is_still_bypassed = pointer.bypass_until.has_value()};
  for (const SnapshotRecord& record : generations) {
    remove_chunks(store, set_name, record);
    deleted.chunks += record.chunk_count();
    chunks.erase(record.push_id);
  }
  for (const auto& [push_id, keys] : chunks) {
    if (!is_obsolete(pointer, push_id)) continue;
    remove_chunks(store, keys);
    deleted.chunks += keys.size();
  }
  trim_adds(store, set_name, pointer);
  return deleted;
}

}  // namespace keysieve
