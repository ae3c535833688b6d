#include "core/builder/snapshot/builder.hpp"

#include <algorithm>

#include "core/builder/base/random.hpp"
#include "core/builder/base/run_tasks.hpp"
#include "core/builder/partition/partition_reader.hpp"
#include "core/builder/snapshot/shard_filler.hpp"
#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

template <std::size_t Size>
void copy_padded(std::array<char, Size>& field, std::string_view text) {
  field.fill('\0');
  std::copy(text.begin(), text.end(), field.begin());
}

void check(const BuildSettings& settings) {
  checked_set_name(settings.set_name);
  if (!is_moment(settings.as_of))
    throw Error(ErrorKind::Usage, "as_of is out of range: 1970 to the year 33658");
  if (!is_moment(settings.valid_for))
    throw Error(ErrorKind::Usage, "valid_for is out of range: 0 to 1000000000000 seconds");
  if (settings.key_profile.size() > kKeyProfileBytes ||
      settings.key_profile.find('\0') != std::string::npos) {
    throw Error(ErrorKind::Usage, "key profile must be at most 64 bytes without NUL");
  }
  if (settings.format < oldest_snapshot_format() || settings.format > newest_snapshot_format()) {
    throw Error(ErrorKind::Usage, "format " + std::to_string(settings.format) +
                                      " is not built by this version, which knows " +
                                      snapshot_formats_text());
  }
  if (settings.values != nullptr && settings.kind->build_map == nullptr) {
    throw Error(ErrorKind::Usage,
                std::string(settings.kind->name) + " cannot have values; kinds that can: " +
                    kind_names([](const FilterKind& kind) { return kind.build_map != nullptr; }));
  }
  // Sizing checks the rest; called here so that a wrong setting fails before a long list is read.
  size_filter(*settings.kind, {.keys = 1,
                               .target_fpr = settings.target_fpr,
                               .growth = settings.growth,
                               .shard_bytes = settings.shard_bytes,
                               .known_absent = settings.has_known_absent ? 1U : 0U});
}

MemoryPlan plan_of(const BuildSettings& settings, const BuildResources& resources) {
  const MemoryPlan plan = plan_memory(resources.memory_bytes, resident_bytes(), resources.threads);
  return settings.has_known_absent ? plan.for_two_lists() : plan;
}

void add_to(HashPartitions::Writer& writer, std::span<const std::string_view> keys, const KeyHasher& hasher) {
  for (const std::string_view key : keys) writer.add(hasher(key));
}

// One for each thread.
std::vector<PartitionReader> readers_of(HashPartitions& partitions, const MemoryPlan& plan) {
  std::vector<PartitionReader> readers;
  for (unsigned thread = 0; thread < plan.threads; ++thread) {
    readers.emplace_back(partitions, plan.piece_hashes);
  }
  return readers;
}

WriteAt copying_to(MutableBytes memory) {
  return [memory](std::uint64_t offset, Bytes bytes) {
    std::copy(bytes.begin(), bytes.end(), memory.subspan(offset).begin());
  };
}

}  // namespace

SnapshotBuilder::SnapshotBuilder(BuildSettings settings, BuildResources resources)
    : settings_((check(settings), std::move(settings))),
      hasher_(settings_.seed),
      resources_(std::move(resources)),
      plan_(plan_of(settings_, resources_)),
      partitions_(plan_, resources_.temporary_folder),
      known_absent_(settings_.has_known_absent
                        ? std::make_unique<HashPartitions>(plan_, resources_.temporary_folder)
                        : nullptr) {}

void SnapshotBuilder::add(unsigned thread, std::span<const std::string_view> keys) {
  add_to(partitions_.writer(thread), keys, hasher_);
  keys_given_.fetch_add(keys.size(), std::memory_order_relaxed);
}

void SnapshotBuilder::add_known_absent(unsigned thread, std::span<const std::string_view> keys) {
  add_to(known_absent_->writer(thread), keys, hasher_);
  known_absent_given_.fetch_add(keys.size(), std::memory_order_relaxed);
}

std::uint64_t SnapshotBuilder::size() {
  key_count_ = count_distinct(partitions_);
  if (known_absent_) known_absent_count_ = count_distinct(*known_absent_);
  geometry_ = geometry();
  layout_ = layout();
  return layout_.file_bytes;
}

std::uint64_t SnapshotBuilder::count_distinct(HashPartitions& partitions) const {
  partitions.finish_writing();
  std::vector<PartitionReader> readers = readers_of(partitions, plan_);
  std::atomic<std::uint64_t> distinct{0};
  std::atomic<std::uint64_t> sorted{0};
  run_tasks(plan_.threads, kPartitions, [&](unsigned thread, std::size_t partition) {
    distinct += readers[thread].count_distinct(partition);
    show_progress(thread, ++sorted, kPartitions, "partitions sorted");
  });
  return distinct;
}

void SnapshotBuilder::write(const WriteAt& write_at) {
  while (!try_write(write_at)) continue;
}

bool SnapshotBuilder::try_write(const WriteAt& write_at) {
  ShardFiller filler(geometry_, settings_.set_name, settings_.signer, settings_.values);
  const MemoryPlan plan = plan_.less(filler.table_bytes());
  std::vector<PartitionReader> readers = readers_of(partitions_, plan);
  std::vector<KnownAbsentReader> absent_readers;
  if (known_absent_) {
    const double per_shard = static_cast<double>(known_absent_count_) / geometry_.shard_count;
    for (unsigned thread = 0; thread < plan.threads; ++thread) {
      absent_readers.emplace_back(*known_absent_, plan.piece_hashes, per_shard);
    }
  }
  const std::size_t tasks = filler.choose_tasks(plan.threads);
  std::atomic<std::uint64_t> filled{0};
  run_tasks(plan.threads, tasks, [&](unsigned thread, std::size_t task) {
    filler.fill(task, readers[thread], known_absent_ ? &absent_readers[thread] : nullptr, write_at);
    show_progress(thread, ++filled, tasks, "parts of the shards filled");
  });
  if (filler.needed_retrieval_bytes() != 0) {
    enlarge_second_levels(filler.needed_retrieval_bytes());
    return false;
  }
  fill_ratio_ = filler.fill_ratio();
  SnapshotHeader complete = header();
  complete.estimated_fpr = filler.estimated_fpr() + same_hash_fpr(static_cast<double>(key_count_));
  if (known_absent_) {
    keys_in_both_lists_ = filler.keys_in_both_lists();
    complete.known_absent = known_absent_count_ - keys_in_both_lists_;
    filler.take_sample(complete);
  }
  write_at(0, filler.front(complete));
  return true;
}

// Collected lists are keys that this filter let pass, so more of them need a bit than its FPR predicts.
void SnapshotBuilder::enlarge_second_levels(std::uint32_t bytes) {
  geometry_.params.retrieval_bytes = bytes;
  if (geometry_.params.stride() > kMaxShardBytes) {
    throw Error(ErrorKind::Data,
                "set " + settings_.set_name +
                    ": too many of the known-absent keys pass the filter: shards would have " +
                    std::to_string(geometry_.params.stride()) + " bytes, more than " +
                    std::to_string(kMaxShardBytes) +
                    "; build with smaller shards, through which other keys pass");
  }
  layout_ = layout();
}

SnapshotBytes SnapshotBuilder::finish() {
  size();
  for (;;) {
    SnapshotBytes snapshot(layout_.file_bytes);
    if (try_write(copying_to(snapshot.get()))) return snapshot;
  }
}

std::optional<double> SnapshotBuilder::fill_ratio() const {
  return fill_ratio_;
}

void SnapshotBuilder::show_progress(unsigned thread, std::uint64_t done, std::uint64_t total,
                                    std::string_view what) const {
  if (thread == 0 && resources_.progress) resources_.progress(done, total, what);
}

SnapshotLayout SnapshotBuilder::layout() const {
  return snapshot_layout(geometry_.shard_count, geometry_.params);
}

Geometry SnapshotBuilder::geometry() const {
  const std::uint8_t value_bits = settings_.values == nullptr ? 0 : settings_.values->value_bits();
  const auto keys = static_cast<double>(key_count_);
  std::optional<Geometry> like = settings_.like;
  if (like && like->kind == settings_.kind && like->kind->takes_hash_count(like->params.hash_count) &&
      like->params.shard_bytes == settings_.shard_bytes && like->params.value_bits == value_bits &&
      give_room(*like, keys, static_cast<double>(known_absent_count_)) &&
      theoretical_fpr(*like, keys) <= settings_.target_fpr * kStickySlack) {
    return *like;
  }
  return size_filter(*settings_.kind, {.keys = key_count_,
                                       .target_fpr = settings_.target_fpr,
                                       .growth = settings_.growth,
                                       .shard_bytes = settings_.shard_bytes,
                                       .known_absent = known_absent_count_,
                                       .value_bits = value_bits});
}

SnapshotHeader SnapshotBuilder::header() const {
  SnapshotHeader header{};
  header.magic = kSnapshotMagic;
  header.format = settings_.format;
  header.kind = geometry_.kind->id;
  header.hash_id = kHashIdXxh3;
  header.header_bytes = kPageBytes;
  header.seed = settings_.seed;
  header.shard_bytes = geometry_.params.shard_bytes;
  header.shard_count = geometry_.shard_count;
  header.key_count = key_count_;
  header.hash_count = geometry_.params.hash_count;
  header.value_bits = geometry_.params.value_bits;
  header.target_fpr = settings_.target_fpr;
  header.as_of = settings_.as_of;
  header.built_at = settings_.built_at == 0 ? unix_now() : settings_.built_at;
  header.valid_for = settings_.valid_for;
  header.build_id = settings_.build_id == BuildId{} ? random_value<BuildId>() : settings_.build_id;
  header.adds_from = settings_.adds_from;
  copy_padded(header.set_name, settings_.set_name);
  copy_padded(header.key_profile, settings_.key_profile);
  header.file_bytes = layout_.file_bytes;
  header.shard_table = layout_.shard_table;
  header.retrieval_seeds = layout_.retrieval_seeds;
  header.retrieval_bytes = geometry_.params.retrieval_bytes;
  header.checksum_table = layout_.checksum_table;
  if (settings_.values != nullptr) settings_.values->take_sample(header);
  header.shards = layout_.shards;
  return header;
}

Geometry geometry_of(const SnapshotHeader& header) {
  return {&filter_kind_of(*find_lookup_kind(header.kind)), params_of(header), header.shard_count};
}

}  // namespace keysieve
