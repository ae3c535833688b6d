// From keys to the bytes of a snapshot. Memory: 16 bytes per key given, up to three
// times that while the list grows, and the snapshot. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/filters/sizing.hpp"
#include "core/snapshot/snapshot.hpp"

namespace keysieve {

struct BuildSettings {
  std::string set_name;
  const FilterKind* kind = find_filter_kind(kDefaultKindName);
  double target_fpr = 0.01;
  double growth = 1.0;
  std::uint32_t shard_bytes = kDefaultShardBytes;
  Effort effort = Effort::Normal;
  std::uint64_t seed = 0;
  UnixSeconds as_of = 0;
  UnixSeconds valid_for = 0;
  LogPosition adds_from{};
  UnixSeconds built_at = 0;   // 0: now
  BuildId build_id{};         // all zero: random
  std::string key_profile{};  // at most kKeyProfileBytes bytes without NUL

  // Sticky geometry: kept as long as its theoretical FPR for the new keys stays within target_fpr (with the
  // slack below); else sized anew.
  std::optional<Geometry> like{};
};

// How far the theoretical FPR of a sticky geometry may lie above the target before the set is sized anew.
inline constexpr double kStickySlack = 1.10;

class SnapshotBuilder {
 public:
  // Throws UsageError for a setting out of range.
  explicit SnapshotBuilder(BuildSettings settings);

  void add(std::string_view key) { hashes_.push_back(hash_key(key, settings_.seed)); }

  // Keys given so far, duplicates counted.
  [[nodiscard]] std::uint64_t keys_given() const noexcept { return hashes_.size(); }

  // Builds from what was added; duplicates count once. Throws DataError for no keys at all or an overfull
  // shard. Call once, as the last.
  SnapshotBytes finish();

  // The counters of what finish() has built; its kind must be one that can count.
  [[nodiscard]] SnapshotBytes counters(const SnapshotView& built) const;

 private:
  [[nodiscard]] Geometry geometry() const;
  // Fills shards and shard table.
  void build_shards(const Geometry& geometry, const SnapshotLayout& layout, MutableBytes bytes) const;
  [[nodiscard]] SnapshotHeader header(const Geometry& geometry, const SnapshotLayout& layout) const;

  BuildSettings settings_;
  std::vector<KeyHash> hashes_;
};

// The geometry a snapshot was built with, for BuildSettings::like.
Geometry geometry_of(const SnapshotView& snapshot);

}  // namespace keysieve
