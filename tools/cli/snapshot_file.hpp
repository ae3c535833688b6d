// A snapshot in a file that a user named, decoded, and what several verbs check and report of a snapshot.
#pragma once

#include <optional>
#include <string>

#include "core/builder/base/file_io.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/mapped_region.hpp"
#include "core/worker/snapshot/snapshot.hpp"
#include "tools/cli/report.hpp"
#include "tools/records/pointer_record.hpp"
#include "tools/signatures/public_keys.hpp"

namespace keysieve {

class SnapshotFile {
 public:
  // Maps it. Throws MissingInput, Permission, Data, Incompatible; all name the file.
  SnapshotFile(const std::string& path, Check check)
      : region_(map_file(path)), view_(SnapshotView::decode(bytes_of(region_), path, check)) {}

  // Reads it into memory, so a later write to the file cannot change what was checked. Throws the same.
  static SnapshotFile copied(const std::string& path, Check check);

  [[nodiscard]] const SnapshotView& view() const noexcept { return view_; }

 private:
  SnapshotFile(SnapshotBytes copy, const std::string& path, Check check)
      : copy_(std::move(copy)), view_(SnapshotView::decode(copy_->get(), path, check)) {}

  MappedRegion region_;
  std::optional<SnapshotBytes> copy_;
  SnapshotView view_;
};

// Throws NotSigned, which begins with `source`, unless the snapshot is signed by one of the keys. Without
// keys: unless it is signed by the key that it names, or by none. So "signed by" can be shown.
void check_signer(const SnapshotView& snapshot, const PublicKeys& keys, const std::string& source);

// "generation 7: as of 2026-11-21T07:00:00Z, 80,000 keys, split_block_bloom"
std::string summary_of(const SnapshotRecord& record);

// Number of known-absent keys; no line if the shards have no second level.
void add_known_absent(Report& report, const SnapshotHeader& header);
// Set, kind, keys, known-absent keys, shards, size, fill ratio, signer, and the FPRs asked for and estimated.
// snapshot.fill_ratio() reads all shards; the caller may know it, or omit it.
void add_snapshot_summary(Report& report, const SnapshotView& snapshot, std::optional<double> fill_ratio);

}  // namespace keysieve
