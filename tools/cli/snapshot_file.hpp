// A snapshot in a file that a user named, mapped and decoded, and what several verbs report of a snapshot.
#pragma once

#include <optional>
#include <string>

#include "core/base/mapped_region.hpp"
#include "core/snapshot/snapshot.hpp"
#include "tools/cli/report.hpp"

namespace keysieve {

class SnapshotFile {
 public:
  // Throws MissingInput, Permission, Data, Incompatible; all name the file.
  SnapshotFile(const std::string& path, Check check)
      : region_(map_file(path)), view_(SnapshotView::decode(bytes_of(region_), path, check)) {}

  [[nodiscard]] const SnapshotView& view() const noexcept { return view_; }

 private:
  MappedRegion region_;
  SnapshotView view_;
};

// Where the counters of a counting set are: next to its snapshot.
inline std::string counters_path(const std::string& snapshot_path) {
  return snapshot_path + ".counters";
}

// Number of known-absent keys; no line if the shards have no second level.
void add_known_absent(Report& report, const SnapshotHeader& header);
// Set, kind, keys, known-absent keys, shards, size, fill ratio, signer, and the FPRs asked for and estimated.
// Reads all shards.
void add_snapshot_summary(Report& report, const SnapshotView& snapshot);
// The same without reading its shards.
void add_snapshot_summary(Report& report, const SnapshotView& snapshot, std::optional<double> fill_ratio);

}  // namespace keysieve
