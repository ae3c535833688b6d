// Snapshots to and from a store.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/builder/snapshot/builder.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/snapshot/snapshot.hpp"
#include "tools/records/pointer_record.hpp"
#include "tools/stores/store.hpp"
#include "tools/transfer/guards.hpp"

namespace keysieve {

// Bytes done of bytes in all.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

// Returns the pointer record, whose `current` is set; nothing if the set was never pushed. Throws Data for
// a damaged record.
std::optional<PointerRecord> read_pointer(Store& store, const std::string& set_name);

// Returns the header of a kept generation, from its first chunk. Throws Data if that is missing or damaged,
// Incompatible for a format or kind that this build does not know, and as the store does.
SnapshotHeader read_header(Store& store, const std::string& set_name, const SnapshotRecord& record);

// The baseline of a snapshot if this generation is the one before. Only a map is compared by more
// than its keys, if the header can be read. Throws as the store does.
Baseline read_baseline(Store& store, const std::string& set_name, const SnapshotRecord& record,
                       const SnapshotView& snapshot);

struct PushResult {
  SnapshotRecord record;
  std::optional<SnapshotRecord> replaces;  // what was current; nothing for the first push
  std::vector<std::string> warnings;       // changed geometry or seed, leftovers that could not be removed
};

// Validates the snapshot, and checks the guards against the current generation. Then puts the chunks under a
// push id of its own, reads them back, and moves the pointer by compare-and-set, which allots the next
// generation. After a lost race it checks the guards and the chunks again, against the winner. Last, removes
// the chunks of generations older than the last three. If it is interrupted before the compare-and-set,
// nothing changes for readers; the first push kAbandonedAfter later removes its chunks. So it is after an
// outage, when some may still be on their way. A push that fails otherwise or is refused removes them itself,
// and one whose chunks were lost, or may be removed by another, begins again (see pointer_record.hpp).
// Pushing the build that is current already replaces its chunks, which repairs a damaged generation, and
// returns its record. Throws Data (guard, damaged pointer record), Locked (too many races), CannotCreate
// (chunks that were evicted at once), and as the store does.
PushResult push(Store& store, const SnapshotView& snapshot, const Guards& guards,
                const Progress& progress = {}, UnixSeconds now = unix_now());

// Checks all that push() checks, and throws the same for it, but changes nothing. Returns what push() would
// make of the store as it is now; the record's push id is zero.
PushResult plan_push(Store& store, const SnapshotView& snapshot, const Guards& guards);

struct Pulled {
  SnapshotRecord record;
  SnapshotBytes snapshot;
};

// Fetches the current generation and checks every chunk and the whole, then decodes everything and compares
// set name and build id with the record. If a chunk is missing, starts again from the pointer, since a push
// may just have replaced it; if it is missing again under the same record, throws Data "damaged, push
// again". Throws MissingInput if the set was never pushed, Unavailable, Data.
Pulled pull(Store& store, const std::string& set_name, const Progress& progress = {});

// The one that fetch() did not find.
struct MissingChunk {
  std::string key;
};

// Names the generation in messages.
std::string name_of(const Store& store, const std::string& set_name, const SnapshotRecord& record);
// Throws Data, with the advice to push again if the store can be written to.
[[noreturn]] void throw_damaged(const Store& store, const std::string& set_name, const SnapshotRecord& record,
                                const MissingChunk& missing);

// Fetches a snapshot, checks every chunk and the whole, decodes everything, and compares it with the whole
// record. Throws Data if anything is wrong, and as the store does.
std::variant<SnapshotBytes, MissingChunk> fetch(Store& store, const std::string& set_name,
                                                const SnapshotRecord& record, const Progress& progress);

}  // namespace keysieve
