// Reads partitions in shard order, piece by piece: as many hashes as fit into the memory of one thread,
// sorted and without duplicates. A partition that does not fit is read again for each piece, from front to
// back.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "core/builder/base/page_memory.hpp"
#include "core/builder/partition/hash_partitions.hpp"

namespace keysieve {

class PartitionReader {
 public:
  // Used by one thread. Several readers may read at once, even the same partition.
  PartitionReader(HashPartitions& partitions, std::uint64_t most_hashes)
      : partitions_(partitions), most_hashes_(std::min<std::uint64_t>(most_hashes, UINT32_MAX)) {}

  using OnPiece = std::function<void(std::span<const KeyHash> hashes)>;

  // Hands over all distinct hashes of the range, in order; each span is valid only during the call. Throws
  // what SpillFile::read() and on_piece throw, and std::bad_alloc.
  void read(const HashRange& range, const OnPiece& on_piece);

  // Counts the distinct hashes of one partition, and leaves it sorted if that fits into its memory. No other
  // reader may read the partition meanwhile. Throws as read().
  std::uint64_t count_distinct(std::size_t index);

 private:
  // Sorts the hashes of the range, which is in one partition. If they do not fit, sorts as many from the
  // front as there is room for, and shortens the range to them.
  std::span<const KeyHash> sort_piece(const Partition& partition, HashRange& range);
  std::span<const KeyHash> copy_sorted(const Partition& partition, const HashRange& range);
  void take_memory(const Partition& partition, HashRange& range);
  void take_spilled(const Partition& partition, HashRange& range);
  void reserve(std::uint64_t hashes);
  // Removes duplicates. If the room is still more than half full, drops the upper half and shortens the range
  // to match.
  void make_room(HashRange& range);
  void sort_taken(const HashRange& range);

  [[nodiscard]] KeyHash* taken() const noexcept { return reinterpret_cast<KeyHash*>(taken_.get()); }
  [[nodiscard]] KeyHash* sorted() const noexcept { return reinterpret_cast<KeyHash*>(sorted_.get()); }

  HashPartitions& partitions_;
  std::uint64_t most_hashes_;  // sorting counts in 32 bits
  std::size_t room_ = 0;       // size of the two below
  std::size_t count_ = 0;      // hashes in them
  PageMemory taken_;
  PageMemory sorted_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace keysieve
