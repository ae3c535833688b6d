// Small snapshots for the suites of transfer.
#pragma once

#include <string>
#include <string_view>

#include "core/snapshot/builder.hpp"

namespace keysieve::test {

struct SnapshotRecipe {
  std::string set_name = "tags";
  std::string_view kind = kDefaultKindName;
  std::uint64_t keys = 1000;  // "key0", "key1", ...
  double target_fpr = 0.01;
  std::uint32_t shard_count = 0;  // 0: as many as the keys need
  std::uint64_t seed = 7;
  UnixSeconds as_of = 1'700'000'000;
  LogPosition adds_from{};
};

// 176 KiB: three chunks.
inline constexpr std::uint32_t kShardsOfSomeChunks = 44;
// 4.7 MiB: more than the 64 chunks of one batch.
inline constexpr std::uint32_t kShardsOfSomeBatches = 1200;

// Every call has another build id.
inline SnapshotBytes build_snapshot(const SnapshotRecipe& recipe = {}) {
  BuildSettings settings;
  settings.set_name = recipe.set_name;
  settings.kind = &filter_kind_named(recipe.kind);
  settings.target_fpr = recipe.target_fpr;
  settings.seed = recipe.seed;
  settings.as_of = recipe.as_of;
  settings.adds_from = recipe.adds_from;
  if (recipe.shard_count != 0) {
    settings.like = size_filter(*settings.kind, {.keys = recipe.keys, .target_fpr = recipe.target_fpr});
    settings.like->shard_count = recipe.shard_count;
  }
  SnapshotBuilder builder(std::move(settings));
  for (std::uint64_t i = 0; i < recipe.keys; ++i) builder.add("key" + std::to_string(i));
  return builder.finish();
}

inline SnapshotView view_of(const SnapshotBytes& snapshot) {
  return SnapshotView::decode(snapshot.get(), "test", Check::Everything);
}

}  // namespace keysieve::test
