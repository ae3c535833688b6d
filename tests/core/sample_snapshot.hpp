// Small snapshots of made-up keys. Used by the suites of snapshot and shm.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "core/builder/snapshot/builder.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/support/hash_key.hpp"

namespace keysieve::test {

inline constexpr UnixSeconds kAsOf = 1'700'000'000;
inline constexpr HashSeed kSeed{7};

inline KeyHash hash_of(std::string_view key) {
  return hash_key(key, kSeed);
}

// "<prefix>0", "<prefix>1", …
inline std::vector<std::string> numbered_keys(const std::string& prefix, int count) {
  std::vector<std::string> keys;
  for (int i = 0; i < count; ++i) keys.push_back(prefix + std::to_string(i));
  return keys;
}

inline SnapshotBytes build_snapshot(const BuildSettings& settings, std::span<const std::string> keys) {
  SnapshotBuilder builder(settings);
  for (const std::string& key : keys) builder.add(key);
  return builder.finish();
}

// A copy without slack at its end: AddressSanitizer catches any access to the byte behind it.
inline SnapshotBytes copy_of(Bytes bytes) {
  SnapshotBytes copy(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.get().begin());
  return copy;
}

inline SnapshotView decode(const SnapshotBytes& snapshot) {
  return SnapshotView::decode(snapshot.get(), "sample", Check::Everything);
}

inline bool may_contain(const SnapshotView& snapshot, std::string_view key) {
  return snapshot.may_contain(snapshot.hasher()(key));
}

}  // namespace keysieve::test
