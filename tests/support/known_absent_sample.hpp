// Snapshots whose sample of known-absent keys is wrong, for the suites of guards, push and loader.
#pragma once

#include <string>
#include <vector>

#include "core/builder/snapshot/builder.hpp"
#include "core/builder/snapshot/seal.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/hash/key_hash.hpp"
#include "core/worker/snapshot/layout.hpp"
#include "tests/support/hash_key.hpp"

namespace keysieve::test {

// Puts other keys in the place of the first of the sample, and makes the checksums right again.
inline void put_into_sample(SnapshotBytes& snapshot, const std::vector<std::string>& keys) {
  auto header = load<SnapshotHeader>(snapshot.get().data());
  const SnapshotLayout layout = snapshot_layout(header);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    header.known_absent_sample.at(i) = hash_key(keys[i], header.seed);
  }
  seal_front(snapshot.get().first(layout.shards.offset), header);
}

}  // namespace keysieve::test
