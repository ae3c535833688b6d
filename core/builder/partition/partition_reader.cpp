#include "core/builder/partition/partition_reader.hpp"

#include "core/builder/partition/shard_order.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kReadHashes = std::size_t{32} * 1024;  // 256 KiB, which fits the nearest caches

}  // namespace

void PartitionReader::read(const HashRange& range, const OnPiece& on_piece) {
  for (std::size_t i = partition_of(range.first); i <= partition_of(range.last); ++i) {
    const Partition& partition = partitions_.partition(i);
    HashRange wanted = range_of_partition(i);
    if (wanted.contains(range.first)) wanted.first = range.first;
    if (wanted.contains(range.last)) wanted.last = range.last;
    for (HashRange rest = wanted;; rest = {{rest.last.word + 1}, wanted.last}) {
      const auto piece = sort_piece(partition, rest);
      if (!piece.empty()) on_piece(piece);
      if (rest.last == wanted.last) break;
    }
  }
}

std::uint64_t PartitionReader::count_distinct(std::size_t index) {
  Partition& partition = partitions_.partition(index);
  std::uint64_t distinct = 0;
  std::span<const KeyHash> piece;
  read(range_of_partition(index), [&](std::span<const KeyHash> hashes) {
    distinct += hashes.size();
    piece = hashes;
  });
  const bool is_whole = piece.size() == distinct;
  if (!is_whole || partition.spilled.size() != 0) return distinct;
  for (auto& span : partition.in_memory) {
    span = span.first(std::min(span.size(), piece.size()));
    std::copy_n(piece.begin(), span.size(), span.begin());
    piece = piece.subspan(span.size());
  }
  partition.is_sorted = true;
  return distinct;
}

std::span<const KeyHash> PartitionReader::sort_piece(const Partition& partition, HashRange& range) {
  reserve(std::min(partition.size(), most_hashes_));
  count_ = 0;
  // Another reader may have sorted more than this one has room for.
  if (partition.is_sorted && partition.size() <= room_) return copy_sorted(partition, range);
  take_memory(partition, range);
  take_spilled(partition, range);
  sort_taken(range);
  return {sorted(), count_};
}

std::span<const KeyHash> PartitionReader::copy_sorted(const Partition& partition, const HashRange& range) {
  KeyHash* end = sorted();
  for (const auto& span : partition.in_memory) end = std::copy(span.begin(), span.end(), end);
  KeyHash* first = std::lower_bound(sorted(), end, range.first);
  return {first, std::upper_bound(first, end, range.last)};
}

void PartitionReader::take_memory(const Partition& partition, HashRange& range) {
  for (std::span<const KeyHash> span : partition.in_memory) {
    while (!span.empty()) {
      if (count_ == room_) make_room(range);
      const auto part = span.first(std::min(span.size(), room_ - count_));
      span = span.subspan(part.size());
      KeyHash* end = std::copy_if(part.begin(), part.end(), taken() + count_,
                                  [&range](const KeyHash& hash) { return range.contains(hash); });
      count_ = static_cast<std::size_t>(end - taken());
    }
  }
}

void PartitionReader::take_spilled(const Partition& partition, HashRange& range) {
  for (std::uint64_t done = 0; done < partition.spilled.size();) {
    if (count_ == room_) make_room(range);
    KeyHash* begin = taken() + count_;
    const std::size_t count = partition.spilled.read(done, {begin, std::min(kReadHashes, room_ - count_)},
                                                     partitions_.temporary_folder());
    done += count;
    const KeyHash* end =
        std::remove_if(begin, begin + count, [&range](const KeyHash& hash) { return !range.contains(hash); });
    count_ = static_cast<std::size_t>(end - taken());
  }
}

void PartitionReader::reserve(std::uint64_t hashes) {
  if (hashes <= room_) return;
  taken_.reset();
  sorted_.reset();
  room_ = std::min(hashes + hashes / 8, most_hashes_);  // the next partition may be a little larger
  taken_ = take_pages(room_ * sizeof(KeyHash), Pages::Huge);
  sorted_ = take_pages(room_ * sizeof(KeyHash), Pages::Huge);
}

void PartitionReader::make_room(HashRange& range) {
  sort_taken(range);
  if (count_ > room_ / 2) {
    count_ = room_ / 2;
    range.last = sorted()[count_ - 1];
  }
  std::swap(taken_, sorted_);
}

void PartitionReader::sort_taken(const HashRange& range) {
  const auto result = sort_distinct({taken(), count_}, range, sorted(), counts_);
  if (result.data() == taken()) std::swap(taken_, sorted_);
  count_ = result.size();
}

}  // namespace keysieve
