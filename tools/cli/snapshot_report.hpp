// What several verbs report of a snapshot, in the same words.
#pragma once

#include "core/snapshot/snapshot.hpp"
#include "tools/cli/report.hpp"

namespace keysieve {

// Set, kind, keys, shards, size, fill ratio, and the FPRs asked for and estimated. Reads all shards.
void add_snapshot_summary(Report& report, const SnapshotView& snapshot);
// The same without reading its shards.
void add_snapshot_summary(Report& report, const SnapshotView& snapshot, std::optional<double> fill_ratio);

}  // namespace keysieve
