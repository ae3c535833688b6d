// Changes that push, rollback and delete make to a pointer record; no store is touched here. Their rules:
//   - A push is pending before its first chunk is put, and only a pending push becomes current. So a push
//     that was discarded never becomes current, however late it comes.
//   - Chunks are removed only once their push is garbage, and the push stays listed until they are gone. So
//     the next push finishes after a crash at any point.
//   - Entries of the adds log that a kept generation or a pending push needs are not trimmed.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "tools/records/pointer_record.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

// Every chunk that a push has put; of a PendingPush, or of the record of its snapshot.
inline Garbage chunks_of(const auto& push) {
  return {push.push_id, push.chunk_count};
}

// Newest first; none before the first push.
std::vector<SnapshotRecord> kept_generations(const PointerRecord& pointer);
// The kept generation of this push; nothing if it has none.
std::optional<SnapshotRecord> find_kept(const PointerRecord& pointer, const PushId& push_id);
bool is_pending(const PointerRecord& pointer, const PushId& push_id);
bool is_garbage(const PointerRecord& pointer, const PushId& push_id);

// Lists the push as pending. If the list is full, discards the oldest push, which will notice and begin
// again.
void announce(PointerRecord& pointer, const PendingPush& push);
// Discards pushes that were announced kAbandonedAfter before `now`, or earlier.
void discard_abandoned(PointerRecord& pointer, UnixSeconds now);
// Makes the push garbage; it must not be kept. If the list of garbage is full, forgets its oldest entry,
// whose chunks only delete_set() finds then.
void discard(PointerRecord& pointer, const Garbage& push);

// Makes `record` current under the next generation; the current one becomes the first of the previous ones.
// Generations that are no longer kept become garbage. A build that is kept already moves to the front. A
// build that is current already keeps its generation and only gets the chunks of this push.
void make_current(PointerRecord& pointer, SnapshotRecord record);

// Raises adds_trimmed_to up to the first entry that is still needed. Returns true if it rose.
bool release_adds(PointerRecord& pointer);

}  // namespace keysieve
