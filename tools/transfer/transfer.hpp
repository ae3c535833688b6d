// Snapshots to and from a store.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/error.hpp"
#include "core/snapshot/builder.hpp"
#include "core/snapshot/snapshot.hpp"
#include "tools/stores/store.hpp"
#include "tools/transfer/guards.hpp"
#include "tools/transfer/pointer_record.hpp"

namespace keysieve {

// Bytes done of bytes in all.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

// With its `current`; nothing when the set was never pushed. Throws Data for a damaged record.
std::optional<PointerRecord> read_pointer(Store& store, const std::string& set_name);

// What the current generation was built with, for BuildSettings::like; fetches no chunk. Nothing when the set
// was never pushed. Throws Incompatible for a kind that this build does not know.
std::optional<Geometry> current_geometry(Store& store, const std::string& set_name);

struct PushResult {
  SnapshotRecord record;
  std::vector<std::string> warnings;  // changed geometry or seed, what could not be removed yet or never is
};

// Validates, checks the guards against the current generation, lists itself as pending, puts the chunks under
// a push id of its own, then moves the pointer by compare-and-set, which allots the next generation (after a
// lost race the guards are checked again, against the winner); last, removes the chunks of the generations
// that fall out of the last three. Interrupted before the compare-and-set, nothing changes for readers; what
// it has put is removed by the first push or gc that comes kAbandonedAfter later (when it fails or is
// refused, it removes that itself). Who was stopped for so long that others did that begins again. Pushing
// the build that is current already replaces its chunks, which repairs a damaged generation, and returns its
// record. Throws Data (guard, damaged pointer record), Locked (too many races), and as the store
// does.
// `counters`: those of a counting set, empty for others.
PushResult push(Store& store, const SnapshotView& snapshot, const Guards& guards,
                const Progress& progress = {}, UnixSeconds now = unix_now(), Bytes counters = {});

// As push(), but only over `base`: throws Superseded when another generation is current by then.
PushResult push_over(Store& store, const SnapshotRecord& base, const SnapshotView& snapshot,
                     const Guards& guards, const Progress& progress = {}, UnixSeconds now = unix_now(),
                     Bytes counters = {});

struct Pulled {
  SnapshotRecord record;
  std::optional<std::uint64_t> keys_before;  // as the pointer has it that the record comes from
  SnapshotBytes snapshot;
  std::optional<SnapshotBytes> counters{};  // only of pull_with_counters()
};

// Fetches and checks the current generation: every chunk, the whole, then decodes everything and compares set
// name and build id with the record. A chunk that is missing starts it again from the pointer, since a push
// may just have replaced it; missing again under the same record throws Data "damaged, push again".
// Throws MissingInput when the set was never pushed, Unavailable, Data. `max_bytes` refuses a
// larger snapshot before anything is allocated (0: no limit).
Pulled pull(Store& store, const std::string& set_name, std::uint64_t max_bytes = 0,
            const Progress& progress = {});

// The same with the counters of a counting set, to change it.
Pulled pull_with_counters(Store& store, const std::string& set_name, const Progress& progress = {});

// The snapshot of one kept generation, for push, update and rollback.
struct MissingChunk {
  std::string key;
};

// For messages.
std::string name_of(const Store& store, const std::string& set_name, const SnapshotRecord& record);

// Checks every chunk and the whole, decodes everything, and compares all that the record says of it. Throws
// Data for what is there but wrong, and as the store does.
std::variant<SnapshotBytes, MissingChunk> fetch(Store& store, const std::string& set_name,
                                                const SnapshotRecord& record, const Progress& progress);

// Its counters, checked against the snapshot; the record has some. Throws alike.
std::variant<SnapshotBytes, MissingChunk> fetch_counters(Store& store, const std::string& set_name,
                                                         const SnapshotRecord& record,
                                                         const SnapshotView& snapshot);

}  // namespace keysieve
