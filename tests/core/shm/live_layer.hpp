// Publications with a live layer, for the suites of the layer: the names of the keys say whether base or
// layer holds them.
#pragma once

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/core/shm/shared_memory.hpp"
#include "tests/support/hash_key.hpp"

namespace keysieve::test {

class LiveLayers : public SharedMemory {
 protected:
  static constexpr HashSeed kSeed{42};
  static constexpr double kFpr = 0.01;

  using SharedMemory::SharedMemory;

  static KeyHash hash(std::string_view key) { return hash_key(key, kSeed); }
  static NewLayer empty_layer(std::uint64_t keys = 1'000) { return NewLayer(layer_geometry_for(keys, kFpr)); }

  // Over a base of "base0" to "base99".
  std::uint64_t publish_with(const NewLayer& layer) const {
    Publisher publisher = this->publisher();
    return publisher.publish(base().get(), 1, layer);
  }
  static SnapshotBytes base(const FilterKind& kind = filter_kind_named(kDefaultKindName)) {
    return snapshot_of("base", {.set_name = kSet, .kind = &kind, .seed = kSeed});
  }
};

}  // namespace keysieve::test
