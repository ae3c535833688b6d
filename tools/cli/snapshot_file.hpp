// A snapshot in a file that a user named, mapped and decoded.
#pragma once

#include <string>

#include "core/base/mapped_region.hpp"
#include "core/snapshot/snapshot.hpp"

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

// Where the counters of a counting set lie: beside its snapshot.
inline std::string counters_path(const std::string& snapshot_path) {
  return snapshot_path + ".counters";
}

}  // namespace keysieve
