// Live keys without a store and a loader: publishes a snapshot with room for them and adds them, as the
// loader does with the keys of an adds log.
#pragma once

#include <string>
#include <vector>

#include "core/builder/base/file_io.hpp"
#include "core/publisher/shm/publisher.hpp"
#include "core/worker/base/mapped_region.hpp"
#include "core/worker/shm/set_reader.hpp"

namespace keysieve::test {

// Throws what Publisher throws.
inline void publish_with_layer(const std::string& directory, const std::string& snapshot_path) {
  const MappedRegion file = map_file(snapshot_path);
  const auto snapshot = SnapshotView::decode(bytes_of(file), snapshot_path, Check::Everything);
  Publisher({.directory = directory}, snapshot.set_name())
      .publish(snapshot.bytes(), 0, NewLayer(layer_geometry_for(1'000, 0.01)));
}

// The same.
inline void add_live_keys(const std::string& directory, const std::string& set_name,
                          const std::vector<std::string>& keys) {
  SetReader reader({.directory = directory}, set_name);
  reader.follow();
  const KeyHasher hasher = reader.attachment()->snapshot().hasher();
  const Publisher publisher({.directory = directory}, set_name);
  LayerWriter layer = publisher.open_layer().value();
  for (const std::string& key : keys) layer.add(hasher(key));
}

}  // namespace keysieve::test
