// Small snapshots for the suites of transfer.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "core/builder/snapshot/builder.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve::test {

struct SnapshotRecipe {
  std::string set_name = "tags";
  std::string_view kind = kDefaultKindName;
  std::uint64_t keys = 1000;       // "key0", "key1", ...
  std::uint64_t known_absent = 0;  // "absent0", "absent1", ...; 0: without a second level
  double target_fpr = 0.01;
  std::uint32_t shard_count = 0;  // 0: as many as the keys need
  HashSeed seed{7};
  UnixSeconds as_of = 1'700'000'000;
  LogPosition adds_from{};
};

// 176 KiB: three chunks.
inline constexpr std::uint32_t kShardsOfSomeChunks = 44;
// 4.7 MiB: more than the 64 chunks of one batch.
inline constexpr std::uint32_t kShardsOfSomeBatches = 1200;

inline BuildSettings settings_of(const SnapshotRecipe& recipe) {
  BuildSettings settings;
  settings.set_name = recipe.set_name;
  settings.kind = &filter_kind_named(recipe.kind);
  settings.target_fpr = recipe.target_fpr;
  settings.seed = recipe.seed;
  settings.as_of = recipe.as_of;
  settings.adds_from = recipe.adds_from;
  settings.has_known_absent = recipe.known_absent != 0;
  if (recipe.shard_count != 0) {
    settings.like = size_filter(
        *settings.kind,
        {.keys = recipe.keys, .target_fpr = recipe.target_fpr, .known_absent = recipe.known_absent});
    settings.like->shard_count = recipe.shard_count;
  }
  return settings;
}
inline void add_keys(SnapshotBuilder& builder, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) builder.add("key" + std::to_string(i));
}
inline void add_known_absent(SnapshotBuilder& builder, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string key = "absent" + std::to_string(i);
    const std::string_view given = key;
    builder.add_known_absent(0, {&given, 1});
  }
}

// Each call makes a new build id.
inline SnapshotBytes build_snapshot(const SnapshotRecipe& recipe = {}) {
  SnapshotBuilder builder(settings_of(recipe));
  add_keys(builder, recipe.keys);
  add_known_absent(builder, recipe.known_absent);
  return builder.finish();
}

inline SnapshotView view_of(const SnapshotBytes& snapshot) {
  return SnapshotView::decode(snapshot.get(), "test", Check::Everything);
}

inline bool answers_maybe(const SnapshotView& view, const std::string& key) {
  return view.may_contain(view.hasher()(key));
}

inline bool are_same(const SnapshotBytes& one, const SnapshotBytes& other) {
  return std::ranges::equal(one.get(), other.get());
}

// Makes a push id that is easy to tell from others.
inline PushId push_id(std::uint8_t number) {
  PushId id{};
  id.fill(number);
  return id;
}

}  // namespace keysieve::test
