// What push, rollback and gc make of a pointer record; no store is touched here. Together these keep to:
//   - A push is pending before its first chunk is put, and only a pending one becomes current. What was
//     discarded meanwhile therefore never does, however late its push comes.
//   - Chunks are removed once their push is garbage, and it stays listed until they are gone. So a crash at
//     any point is finished by the next push or gc.
//   - Entries of the adds log that a kept generation or a pending push needs are not trimmed.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "tools/stores/store.hpp"
#include "tools/transfer/pointer_record.hpp"

namespace keysieve {

// Every chunk that its push has put, those of counters too.
Garbage chunks_of(const SnapshotRecord& record);

// Newest first; none before the first push.
std::vector<SnapshotRecord> kept_generations(const PointerRecord& pointer);
// The kept generation that this push brought; nothing when there is none.
std::optional<SnapshotRecord> find_kept(const PointerRecord& pointer, const PushId& push_id);
bool is_pending(const PointerRecord& pointer, const PushId& push_id);
bool is_garbage(const PointerRecord& pointer, const PushId& push_id);

// Where the list is full, the oldest push is discarded: it will notice, and begin again.
void announce(PointerRecord& pointer, const PendingPush& push);
// Pushes that were announced that long before `now`. True when there were any.
bool discard_abandoned(PointerRecord& pointer, UnixSeconds now, std::chrono::seconds abandoned_after);
// The push must not be kept. Where the list of garbage is full, the oldest entry is forgotten: gc finds what
// no record knows.
void discard(PointerRecord& pointer, const Garbage& push);

// Makes `record` current, under the next generation, and the one before the first of the previous ones; what
// falls out of the kept generations is garbage. A build that is kept already moves to the front; one that is
// current already keeps its generation, and only gets the chunks of this push.
void make_current(PointerRecord& pointer, SnapshotRecord record);

// Raises adds_trimmed_to as far as nobody needs the entries. True when it rose.
bool release_adds(PointerRecord& pointer);

}  // namespace keysieve
