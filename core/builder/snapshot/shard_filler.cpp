#include "core/builder/snapshot/shard_filler.hpp"

#include <algorithm>
#include <numeric>

#include "core/builder/filters/retrieval.hpp"
#include "core/builder/snapshot/seal.hpp"
#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

// A part reads the partitions at both its ends again; if they are spilled, that means sorting them again.
// With this many parts and two threads that is two partitions of about 32.
constexpr std::size_t kTasksPerThread = 4;

// More have no room in any second level, so they are only counted.
constexpr std::uint64_t kMostZeros = std::uint64_t{8} * kMaxShardBytes;

// The hashes of shard `index`, and takes them away. No earlier shard has any left.
std::span<const KeyHash> take_front(std::span<const KeyHash>& hashes, std::uint32_t index,
                                    std::uint32_t shard_count) {
  const auto end = std::ranges::partition_point(
      hashes, [&](const KeyHash& hash) { return shard_of(hash, shard_count) <= index; });
  const auto front = hashes.first(static_cast<std::size_t>(end - hashes.begin()));
  hashes = hashes.subspan(front.size());
  return front;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

KnownAbsentReader::KnownAbsentReader(HashPartitions& partitions, std::uint64_t most_hashes, double per_shard)
    : reader_(partitions, most_hashes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 20;
  // Less than there is room for, because shards differ.
  const double hashes = 0.8 * static_cast<double>(std::min(most_hashes, kMost));
  shards_at_a_time_ = static_cast<std::uint32_t>(std::clamp(hashes / std::max(per_shard, 1.0), 0.0, 1e6));
}

void KnownAbsentReader::start(std::uint32_t begin, std::uint32_t end) noexcept {
  held_until_ = begin;
  end_ = end;
}

void KnownAbsentReader::read(std::uint32_t shard, std::uint32_t shard_count,
                             const PartitionReader::OnPiece& on_piece) {
  if (shards_at_a_time_ == 0) {
    reader_.read(range_of_shards(shard, shard + 1, shard_count), on_piece);
    return;
  }
  if (shard >= held_until_) {
    held_until_ = shard + std::min(shards_at_a_time_, end_ - shard);
    hashes_.clear();
    reader_.read(range_of_shards(shard, held_until_, shard_count),
                 [this](auto piece) { hashes_.insert(hashes_.end(), piece.begin(), piece.end()); });
    left_ = hashes_;
  }
  on_piece(take_front(left_, shard, shard_count));
}

ShardFiller::ShardFiller(const Geometry& geometry, std::string set_name, const Signer* signer,
                         const MapValues* values)
    : geometry_(geometry),
      set_name_(std::move(set_name)),
      signer_(signer),
      values_(values),
      layout_(snapshot_layout(geometry.shard_count, geometry.params)),
      front_(layout_.shards.offset),
      digests_(signer == nullptr ? 0 : geometry.shard_count + 1),
      estimated_fprs_(geometry.shard_count),
      fill_ratios_(geometry.kind->fill_ratio == nullptr ? 0 : geometry.shard_count),
      filter_lookup_(geometry.kind->lookup(filter_params(), best_instruction_set())) {}

std::uint64_t ShardFiller::table_bytes() const noexcept {
  return front_.size() + digests_.size() * sizeof(Digest) +
         (estimated_fprs_.size() + fill_ratios_.size()) * sizeof(double);
}

std::size_t ShardFiller::choose_tasks(unsigned threads) {
  tasks_ = threads == 1 ? 1 : std::min<std::size_t>(threads * kTasksPerThread, geometry_.shard_count);
  return tasks_;
}

void ShardFiller::fill(std::size_t task, PartitionReader& reader, KnownAbsentReader* known_absent,
                       const WriteAt& write_at) {
  const std::uint32_t begin = shard_at(task);
  const std::uint32_t end = shard_at(task + 1);
  if (known_absent != nullptr) known_absent->start(begin, end);
  std::vector<std::byte> shard(geometry_.params.stride());
  ShardCutter cutter(begin, end, geometry_.shard_count, [&](std::uint32_t index, auto keys) {
    std::fill(shard.begin(), shard.end(), std::byte{0});
    build_shard(index, keys, known_absent, shard);
    store(front_.data() + layout_.checksum_table.offset + index * sizeof(std::uint64_t), checksum(shard));
    if (signer_ != nullptr) digests_[1 + index] = signer_->digest(shard);
    write_at(layout_.shards.offset + index * shard.size(), shard);
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

Bytes ShardFiller::front(SnapshotHeader header) {
  if (signer_ != nullptr) {
    digests_.front() = signer_->digest(tables_of(front_, layout_));
    header.contents_digest = signer_->digest(std::as_bytes(std::span(digests_)));
  }
  seal_front(front_, header, signer_);
  return front_;
}

std::uint32_t ShardFiller::shard_at(std::size_t task) const noexcept {
  return static_cast<std::uint32_t>(geometry_.shard_count * task / tasks_);
}

void ShardFiller::build_shard(std::uint32_t index, std::span<const KeyHash> keys,
                              KnownAbsentReader* known_absent, MutableBytes shard) {
  if (keys.size() > kMaxKeysPerShard) {
    throw Error(ErrorKind::Data, "set " + set_name_ + ": shard " + std::to_string(index) +
                                     " is overfull with " + std::to_string(keys.size()) +
                                     " keys; a shard holds at most 65535");
  }
  const FilterKind& kind = *geometry_.kind;
  const FilterParams params = filter_params();
  const MutableBytes filter = shard.first(params.shard_bytes);
  ShardEntry entry;
  build_filter(index, keys, entry, filter);
  store(front_.data() + layout_.shard_table.offset + index * sizeof(ShardEntry), entry);
  estimated_fprs_[index] = kind.estimated_fpr(filter, entry, params);
  if (!fill_ratios_.empty()) fill_ratios_[index] = kind.fill_ratio(filter, entry, params);
  if (geometry_.params.retrieval_bytes == 0) return;
  estimated_fprs_[index] /= 2.0;  // an unknown key has either bit
  build_second_level(index, keys, *known_absent, entry, shard);
}

void ShardFiller::build_filter(std::uint32_t index, std::span<const KeyHash> keys, ShardEntry& entry,
                               MutableBytes filter) const {
  if (values_ == nullptr) return geometry_.kind->build(filter, entry, filter_params(), keys);
  std::vector<std::uint32_t> values;
  values_->copy(keys, values);
  if (geometry_.kind->build_map(filter, entry, filter_params(), keys, values)) return;
  throw Error(ErrorKind::Data,
              "map " + set_name_ + ": shard " + std::to_string(index) +
                  " has no room for the values of its " + std::to_string(keys.size()) +
                  " keys, more than chance should give it: build it again with another seed");
}

void ShardFiller::build_second_level(std::uint32_t index, std::span<const KeyHash> keys,
                                     KnownAbsentReader& known_absent, const ShardEntry& entry,
                                     MutableBytes shard) {
  const ShardArray alone(shard.data(), &entry, 1, filter_params());
  std::vector<KeyHash> zeros;
  std::uint64_t passing = 0;
  std::uint64_t in_both_lists = 0;
  auto key = keys.begin();
  known_absent.read(index, geometry_.shard_count, [&](std::span<const KeyHash> hashes) {
    for (const KeyHash& hash : hashes) {
      key = std::find_if(key, keys.end(), [&](const KeyHash& other) { return other >= hash; });
      if (key != keys.end() && *key == hash) {
        ++in_both_lists;
        continue;
      }
      sample_.add(hash);
      if (!filter_lookup_.may_contain(alone, hash)) continue;
      passing_sample_.add(hash);
      if (++passing <= kMostZeros) zeros.push_back(hash);
    }
  });
  keys_in_both_lists_ += in_both_lists;
  const std::uint32_t needed =
      retrieval_bytes_for(*geometry_.kind, static_cast<double>(keys.size() + passing));
  if (needed > geometry_.params.retrieval_bytes) return need(needed);
  const auto seed = build_retrieval(shard.subspan(geometry_.params.shard_bytes), keys, zeros);
  if (!seed) return need(geometry_.params.retrieval_bytes + geometry_.kind->shard_alignment);
  store(front_.data() + layout_.retrieval_seeds.offset + index, *seed);
}

void ShardFiller::need(std::uint32_t retrieval_bytes) noexcept {
  std::uint32_t before = needed_retrieval_bytes_;
  while (retrieval_bytes > before &&
         !needed_retrieval_bytes_.compare_exchange_weak(before, retrieval_bytes)) {
    continue;
  }
}

KnownAbsentSample::KnownAbsentSample() {
  for (auto& least : least_) least = kNone;
}

void KnownAbsentSample::add(KeyHash hash) noexcept {
  auto& least = least_[hash.word / (UINT64_MAX / kKnownAbsentSample + 1)];
  std::uint64_t before = least;
  while (hash.word < before && !least.compare_exchange_weak(before, hash.word)) continue;
}

// Those that pass the filter come first: others say nothing of the second level.
void ShardFiller::take_sample(SnapshotHeader& header) const {
  for (std::size_t i = 0; i < kKnownAbsentSample; ++i) {
    const auto hash = passing_sample_.at(i) ? passing_sample_.at(i) : sample_.at(i);
    if (hash) header.known_absent_sample[header.sample_count++] = *hash;
  }
}

void ShardCutter::feed(std::span<const KeyHash> hashes) {
  while (!hashes.empty()) {
    const auto keys = take_front(hashes, next_, shard_count_);
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
