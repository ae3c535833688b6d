#include "core/snapshot/builder.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/random.hpp"
#include "core/hash/hash_list.hpp"
#include "core/snapshot/counters.hpp"
#include "core/snapshot/seal.hpp"

namespace keysieve {
namespace {

template <std::size_t Size>
void copy_padded(std::array<char, Size>& field, std::string_view text) {
  field.fill('\0');
  std::copy(text.begin(), text.end(), field.begin());
}

// Keys are in shard order, so each shard's keys are one stretch; cuts it off the front.
std::span<const KeyHash> take_shard(std::span<const KeyHash>& keys, std::uint32_t shard,
                                    std::uint32_t shard_count) {
  const auto end = std::partition_point(
      keys.begin(), keys.end(), [=](const KeyHash& key) { return shard_of(key, shard_count) <= shard; });
  const auto count = static_cast<std::size_t>(end - keys.begin());
  const auto taken = keys.first(count);
  keys = keys.subspan(count);
  return taken;
}

}  // namespace

SnapshotBuilder::SnapshotBuilder(BuildSettings settings) : settings_(std::move(settings)) {
  checked_set_name(settings_.set_name);
  if (!is_moment(settings_.as_of)) throw UsageError("as_of is out of range: 1970 to the year 33658");
  if (!is_moment(settings_.valid_for))
    throw UsageError("valid_for is out of range: 0 to 1000000000000 seconds");
  if (settings_.key_profile.size() > kKeyProfileBytes ||
      settings_.key_profile.find('\0') != std::string::npos) {
    throw UsageError("key profile must be at most 64 bytes without NUL");
  }
  // Sizing checks the rest; done here so that a wrong setting fails before a long list is read.
  size_filter(*settings_.kind, {.keys = 1,
                                .target_fpr = settings_.target_fpr,
                                .growth = settings_.growth,
                                .shard_bytes = settings_.shard_bytes,
                                .effort = settings_.effort});
}

SnapshotBytes SnapshotBuilder::finish() {
  sort_and_dedupe(hashes_);
  if (hashes_.empty()) throw DataError("set " + settings_.set_name + ": the key list is empty");
  const Geometry built = geometry();
  const SnapshotLayout layout = snapshot_layout(built.shard_count, built.params.shard_bytes);
  SnapshotBytes snapshot(layout.file_bytes);
  const MutableBytes bytes = snapshot.get();

  build_shards(built, layout, bytes);
  seal(bytes, *built.kind, header(built, layout));
  return snapshot;
}

SnapshotBytes SnapshotBuilder::counters(const SnapshotView& built) const {
  return count_keys(built, hashes_);
}

Geometry SnapshotBuilder::geometry() const {
  const auto& like = settings_.like;
  if (like && like->kind == settings_.kind && like->params.shard_bytes == settings_.shard_bytes &&
      theoretical_fpr(*like, static_cast<double>(hashes_.size())) <= settings_.target_fpr * kStickySlack) {
    return *like;
  }
  return size_filter(*settings_.kind, {.keys = hashes_.size(),
                                       .target_fpr = settings_.target_fpr,
                                       .growth = settings_.growth,
                                       .shard_bytes = settings_.shard_bytes,
                                       .effort = settings_.effort});
}

void SnapshotBuilder::build_shards(const Geometry& geometry, const SnapshotLayout& layout,
                                   MutableBytes bytes) const {
  std::span<const KeyHash> keys = hashes_;
  for (std::uint32_t i = 0; i < geometry.shard_count; ++i) {
    const auto shard_keys = take_shard(keys, i, geometry.shard_count);
    check_not_overfull(settings_.set_name, i, shard_keys.size());
    const MutableBytes shard = bytes.subspan(
        layout.shards.offset + std::uint64_t{i} * geometry.params.shard_bytes, geometry.params.shard_bytes);
    ShardEntry entry;
    geometry.kind->build(shard, entry, geometry.params, settings_.effort, shard_keys);
    store(bytes.data() + layout.shard_table.offset + i * sizeof(ShardEntry), entry);
  }
}

SnapshotHeader SnapshotBuilder::header(const Geometry& geometry, const SnapshotLayout& layout) const {
  SnapshotHeader header{};
  header.magic = kSnapshotMagic;
  header.format = kSnapshotFormat;
  header.kind = geometry.kind->id;
  header.hash_id = kHashIdXxh3;
  header.header_bytes = kPageBytes;
  header.seed = settings_.seed;
  header.shard_bytes = geometry.params.shard_bytes;
  header.shard_count = geometry.shard_count;
  header.key_count = hashes_.size();
  header.hash_count = geometry.params.hash_count;
  header.target_fpr = settings_.target_fpr;
  header.as_of = settings_.as_of;
  header.built_at = settings_.built_at == 0 ? unix_now() : settings_.built_at;
  header.valid_for = settings_.valid_for;
  header.build_id = settings_.build_id == BuildId{} ? random_value<BuildId>() : settings_.build_id;
  header.adds_from = settings_.adds_from;
  copy_padded(header.set_name, settings_.set_name);
  copy_padded(header.key_profile, settings_.key_profile);
  header.file_bytes = layout.file_bytes;
  header.shard_table = layout.shard_table;
  header.checksum_table = layout.checksum_table;
  header.shards = layout.shards;
  return header;
}

Geometry geometry_of(const SnapshotView& snapshot) {
  return {&snapshot.kind(), snapshot.shards().params, snapshot.shards().shard_count};
}

}  // namespace keysieve
