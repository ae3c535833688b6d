#include "core/snapshot/shard_filler.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/checksum.hpp"
#include "core/snapshot/seal.hpp"

namespace keysieve {
namespace {

// A part reads the partitions at both its ends again; if they are spilled, that means sorting them again.
// With this many parts and two threads that is two partitions of about 32.
constexpr std::size_t kTasksPerThread = 4;

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

ShardFiller::ShardFiller(const Geometry& geometry, std::string set_name)
    : geometry_(geometry),
      set_name_(std::move(set_name)),
      layout_(snapshot_layout(geometry.shard_count, geometry.params.shard_bytes)),
      stretch_shards_(static_cast<std::uint32_t>(kChecksumStretchBytes / geometry.params.shard_bytes)),
      front_(layout_.shards.offset),
      estimated_fprs_(geometry.shard_count),
      fill_ratios_(geometry.kind->fill_ratio == nullptr ? 0 : geometry.shard_count) {}

std::uint64_t ShardFiller::table_bytes() const noexcept {
  return front_.size() + (estimated_fprs_.size() + fill_ratios_.size()) * sizeof(double);
}

std::size_t ShardFiller::choose_tasks(unsigned threads) {
  tasks_ = threads == 1 ? 1 : std::min<std::uint64_t>(threads * kTasksPerThread, layout_.stretch_count());
  return tasks_;
}

void ShardFiller::fill(std::size_t task, PartitionReader& reader, const WriteAt& write_at) {
  const std::uint32_t begin = shard_at(task);
  const std::uint32_t end = shard_at(task + 1);
  const std::size_t shard_bytes = geometry_.params.shard_bytes;
  std::vector<std::byte> stretch(kChecksumStretchBytes);
  ShardCutter cutter(begin, end, geometry_.shard_count, [&](std::uint32_t index, auto keys) {
    const std::size_t in_stretch = index % stretch_shards_;
    if (in_stretch == 0) std::fill(stretch.begin(), stretch.end(), std::byte{0});
    build_shard(index, keys, MutableBytes(stretch).subspan(in_stretch * shard_bytes, shard_bytes));
    if (in_stretch + 1 < stretch_shards_ && index + 1 < end) return;
    const Bytes whole = Bytes(stretch).first((in_stretch + 1) * shard_bytes);
    const std::uint64_t number = index / stretch_shards_;
    put_checksum(number, whole);
    write_at(layout_.shards.offset + number * kChecksumStretchBytes, whole);
  });
  reader.read(range_of_shards(begin, end, geometry_.shard_count), [&](auto hashes) { cutter.feed(hashes); });
  cutter.finish();
}

double ShardFiller::estimated_fpr() const {
  return mean(estimated_fprs_);
}

std::optional<double> ShardFiller::fill_ratio() const {
  if (fill_ratios_.empty()) return std::nullopt;
  return mean(fill_ratios_);
}

Bytes ShardFiller::front(const SnapshotHeader& header) {
  seal_front(front_, header);
  return front_;
}

std::uint32_t ShardFiller::shard_at(std::size_t task) const noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(
      layout_.stretch_count() * task / tasks_ * stretch_shards_, geometry_.shard_count));
}

void ShardFiller::build_shard(std::uint32_t index, std::span<const KeyHash> keys, MutableBytes shard) {
  check_not_overfull(set_name_, index, keys.size());
  const FilterKind& kind = *geometry_.kind;
  ShardEntry entry;
  kind.build(shard, entry, geometry_.params, keys);
  store(front_.data() + layout_.shard_table.offset + index * sizeof(ShardEntry), entry);
  estimated_fprs_[index] = kind.estimated_fpr(shard, entry, geometry_.params);
  if (!fill_ratios_.empty()) fill_ratios_[index] = kind.fill_ratio(shard, entry, geometry_.params);
}

void ShardFiller::put_checksum(std::uint64_t stretch, Bytes bytes) {
  store(front_.data() + layout_.checksum_table.offset + stretch * sizeof(std::uint64_t), checksum(bytes));
}

void ShardCutter::feed(std::span<const KeyHash> hashes) {
  while (!hashes.empty()) {
    const auto end = std::partition_point(hashes.begin(), hashes.end(), [this](const KeyHash& hash) {
      return shard_of(hash, shard_count_) <= next_;
    });
    const auto keys = hashes.first(static_cast<std::size_t>(end - hashes.begin()));
    hashes = hashes.subspan(keys.size());
    if (open_.empty() && !hashes.empty()) {
      pass_on(keys);
    } else {
      open_.insert(open_.end(), keys.begin(), keys.end());
      if (!hashes.empty()) pass_on(open_);
    }
  }
}

void ShardCutter::finish() {
  while (next_ < end_) pass_on(open_);
}

void ShardCutter::pass_on(std::span<const KeyHash> keys) {
  on_shard_(next_++, keys);
  open_.clear();
}

}  // namespace keysieve
