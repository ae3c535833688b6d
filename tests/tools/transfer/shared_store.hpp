// Pushes and rollbacks that share a store, and checks that must hold whatever they do.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tools/records/pointer_record.hpp"
#include "tools/transfer/rollback.hpp"
#include "tools/transfer/stored_chunks.hpp"
#include "tools/transfer/stored_pointer.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve::test {

// One operation on a store; may throw.
using Deed = std::function<void(Store&)>;

inline constexpr UnixSeconds kMoreThanADay = std::chrono::seconds(kAbandonedAfter).count() + 3600;
inline constexpr std::uint32_t kShardsOfTwoChunks = 20;

// A snapshot of the set "tags"; the same number is the same build.
inline const SnapshotBytes& numbered_snapshot(std::size_t number) {
  static std::vector<SnapshotBytes> snapshots = [] {
    std::vector<SnapshotBytes> built;
    for (int i = 0; i < 12; ++i) {
      built.push_back(build_snapshot({.keys = 10, .shard_count = kShardsOfTwoChunks}));
    }
    return built;
  }();
  return snapshots.at(number);
}

inline Deed pushing(std::size_t number, UnixSeconds later = 0) {
  return [number, later](Store& store) {
    push(store, view_of(numbered_snapshot(number)), {}, {}, unix_now() + later);
  };
}
inline Deed rolling_back() {
  return [](Store& store) { rollback(store, "tags", plan_rollback(store, "tags")); };
}
// Removes what earlier pushes have left, and may shrink the set.
inline Deed pushing_a_day_later(UnixSeconds days = 1) {
  return [days](Store& store) {
    push(store, view_of(numbered_snapshot(10)), {.max_shrink = std::nullopt}, {},
         unix_now() + days * kMoreThanADay);
  };
}
inline Deed one_after_another(std::vector<Deed> deeds) {
  return [deeds = std::move(deeds)](Store& store) {
    for (const Deed& deed : deeds) deed(store);
  };
}

inline std::vector<std::string> chunk_keys_of(const Store& store, const SnapshotRecord& record) {
  return chunk_key_batch(store, "tags", record, 0);
}

// Holds at every moment: all chunks of the current and the kept generations are there.
inline void expect_whole(Store& store, const std::string& when) {
  const auto pointer = read_stored_pointer(store, "tags").value_or(PointerRecord{});
  for (const SnapshotRecord& kept : kept_generations(pointer)) {
    const auto chunks = store.get_many(chunk_keys_of(store, kept));
    EXPECT_TRUE(
        std::all_of(chunks.begin(), chunks.end(), [](const auto& chunk) { return chunk.has_value(); }))
        << when << ": generation " << kept.generation;
  }
}

// The current generation can be pulled, and a kept one can be rolled back to.
inline void expect_usable(Store& store, const std::string& when) {
  const auto pointer = read_pointer(store, "tags");
  if (!pointer) return;
  EXPECT_EQ(pull(store, "tags").record, pointer->current) << when;
  for (const SnapshotRecord& kept : kept_generations(*pointer)) {
    EXPECT_TRUE(std::holds_alternative<SnapshotBytes>(fetch(store, "tags", kept, {})))
        << when << ": generation " << kept.generation;
  }
}

// Holds once all are done and a day has passed: the next push leaves only the chunks of kept generations.
// Pushes that follow one of a later day have ids of that day: then count one day more.
inline void expect_nothing_else_after_a_day(Store& store, const std::string& when, UnixSeconds days = 1) {
  pushing_a_day_later(days)(store);
  expect_usable(store, when);
  if (!store.abilities().list) return;  // it drops by itself what is left
  const PointerRecord pointer = read_stored_pointer(store, "tags").value_or(PointerRecord{});
  std::vector<std::string> expected{pointer_key(store, "tags")};
  for (const SnapshotRecord& kept : kept_generations(pointer)) {
    const auto keys = chunk_keys_of(store, kept);
    expected.insert(expected.end(), keys.begin(), keys.end());
  }
  EXPECT_THAT(store.keys_with_prefix(store.prefix() + ":"), UnorderedElementsAreArray(expected)) << when;
}

}  // namespace keysieve::test
