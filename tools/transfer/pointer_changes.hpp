// Changes that push, rollback and delete make to a pointer record; no store is touched here. Their rules:
//   - A push becomes current only if it is kept, or its id is above `chunks_removed_to`, which never falls.
//     So the chunks of an obsolete push may be removed at any time, by anyone, however late: whatever clocks
//     say, it never becomes current.
//   - Entries of the adds log that a kept generation needs are not trimmed.
//
// Example: push 7 is slow. Push 8 of the next day finds its chunks, sets `chunks_removed_to` to 7 and begins
// to remove them. If push 7 finds all its chunks and reads the record before that, its compare-and-set fails;
// if it reads the record after that, it begins again as push 9.
#pragma once

#include <optional>
#include <vector>

#include "tools/records/pointer_record.hpp"

namespace keysieve {

// Newest first; none before the first push.
std::vector<SnapshotRecord> kept_generations(const PointerRecord& pointer);
// The kept generation of this push; nothing if it has none.
std::optional<SnapshotRecord> find_kept(const PointerRecord& pointer, const PushId& push_id);
// Whether the push is not kept and never becomes current.
bool is_obsolete(const PointerRecord& pointer, const PushId& push_id);
// The newest of all pushes that are kept or obsolete.
PushId newest_push(const PointerRecord& pointer);

// Makes `record` current under the next generation; the current one becomes the first of the previous ones.
// Pushes whose generations are no longer kept become obsolete, with all older ones that are not kept. A build
// that is kept already moves to the front. A build that is current already keeps its generation and only gets
// the chunks of this push.
void make_current(PointerRecord& pointer, SnapshotRecord record);

// Raises adds_trimmed_to up to the first entry that is still needed. Returns true if it rose.
bool release_adds(PointerRecord& pointer);

}  // namespace keysieve
