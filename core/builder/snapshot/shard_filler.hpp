// The last pass of the builder: from sorted hashes to shards.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/builder/filters/sizing.hpp"
#include "core/builder/partition/partition_reader.hpp"
#include "core/builder/snapshot/map_values.hpp"
#include "core/builder/snapshot/signer.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/hash/key_hash.hpp"
#include "core/worker/snapshot/layout.hpp"

namespace keysieve {

// Cuts hashes that come in shard order, piece by piece, into those of each shard. One thread. Throws what
// on_shard throws, and std::bad_alloc.
class ShardCutter {
 public:
  using OnShard = std::function<void(std::uint32_t shard, std::span<const KeyHash> keys)>;

  // Calls on_shard for the shards from `begin` to before `end`, in order, including those without keys.
  ShardCutter(std::uint32_t begin, std::uint32_t end, std::uint32_t shard_count, OnShard on_shard)
      : next_(begin), end_(end), shard_count_(shard_count), on_shard_(std::move(on_shard)) {}

  // Takes distinct hashes of these shards, all of them after those of the call before.
  void feed(std::span<const KeyHash> hashes);
  // Call after the last piece.
  void finish();

 private:
  void pass_on(std::span<const KeyHash> keys);

  std::uint32_t next_;
  std::uint32_t end_;
  std::uint32_t shard_count_;
  OnShard on_shard_;
  std::vector<KeyHash> open_;  // of shard next_; more may come
};

// The least hash in each stretch of hashes, so it is the same for any number of threads. Any thread may add.
class KnownAbsentSample {
 public:
  KnownAbsentSample();
  void add(KeyHash hash) noexcept;
  // Nothing if the stretch has none.
  [[nodiscard]] std::optional<KeyHash> at(std::size_t stretch) const noexcept {
    const std::uint64_t least = least_[stretch];
    return least == kNone ? std::nullopt : std::optional(KeyHash{least});
  }

 private:
  static constexpr std::uint64_t kNone = UINT64_MAX;

  std::array<std::atomic<std::uint64_t>, kKnownAbsentSample> least_;
};

// Reads the known-absent keys of one shard after the other: as many shards at a time as fit into the memory
// of one thread, or piece by piece if not even one does. One thread; the partitions must outlive it.
class KnownAbsentReader {
 public:
  // `per_shard`: known-absent keys, on average.
  KnownAbsentReader(HashPartitions& partitions, std::uint64_t most_hashes, double per_shard);

  // Call before a part: reads only shards from `begin` to before `end`, in order.
  void start(std::uint32_t begin, std::uint32_t end) noexcept;
  // Hands over the hashes of a shard, in order; each span is valid only during the call. Throws what
  // PartitionReader::read() throws.
  void read(std::uint32_t shard, std::uint32_t shard_count, const PartitionReader::OnPiece& on_piece);

 private:
  PartitionReader reader_;
  std::uint32_t shards_at_a_time_;
  std::uint32_t held_until_ = 0;  // the first shard that is not in hashes_
  std::uint32_t end_ = 0;
  std::vector<KeyHash> hashes_;
  std::span<const KeyHash> left_;  // of hashes_
};

// Builds the shards of a snapshot, in parts that several threads fill at once, and keeps everything that
// comes before them: shard table, checksums, estimated FPR.
class ShardFiller {
 public:
  // `signer`: nullptr for an unsigned snapshot. `values`: the values of all keys, nullptr for a geometry
  // without value bits. Both must outlive it.
  ShardFiller(const Geometry& geometry, std::string set_name, const Signer* signer, const MapValues* values);

  // Memory that its tables take.
  [[nodiscard]] std::uint64_t table_bytes() const noexcept;

  // Returns how many parts to fill, so that the threads end at about the same time.
  std::size_t choose_tasks(unsigned threads);
  // Fills one part and hands over its shards one by one. Several threads may fill different parts at once;
  // `known_absent` is nullptr if there are none. Throws Data for an overfull shard, and what the readers and
  // `write_at` throw. Where the keys of a second level have no room, only notes how much they need.
  void fill(std::size_t task, PartitionReader& reader, KnownAbsentReader* known_absent,
            const WriteAt& write_at);

  // Call when all parts are filled: means over the shards, and everything that comes before them. The header
  // must be complete except for its checksums and its signature.
  [[nodiscard]] double estimated_fpr() const;
  [[nodiscard]] std::optional<double> fill_ratio() const;
  // Bytes of the second levels with which all keys have room; 0 if they have.
  [[nodiscard]] std::uint32_t needed_retrieval_bytes() const noexcept { return needed_retrieval_bytes_; }
  [[nodiscard]] std::uint64_t keys_in_both_lists() const noexcept { return keys_in_both_lists_; }
  void take_sample(SnapshotHeader& header) const;
  // The bytes belong to this object.
  [[nodiscard]] Bytes front(SnapshotHeader header);

 private:
  // The parameters of the filters alone, without their second levels.
  [[nodiscard]] FilterParams filter_params() const noexcept {
    return {.shard_bytes = geometry_.params.shard_bytes,
            .hash_count = geometry_.params.hash_count,
            .value_bits = geometry_.params.value_bits};
  }
  [[nodiscard]] std::uint32_t shard_at(std::size_t task) const noexcept;
  void build_shard(std::uint32_t index, std::span<const KeyHash> keys, KnownAbsentReader* known_absent,
                   MutableBytes shard);
  void build_filter(std::uint32_t index, std::span<const KeyHash> keys, ShardEntry& entry,
                    MutableBytes filter) const;
  void build_second_level(std::uint32_t index, std::span<const KeyHash> keys, KnownAbsentReader& known_absent,
                          const ShardEntry& entry, MutableBytes shard);
  void need(std::uint32_t retrieval_bytes) noexcept;

  Geometry geometry_;
  std::string set_name_;
  const Signer* signer_;
  const MapValues* values_;  // nullptr in a set that is no map
  SnapshotLayout layout_;
  std::size_t tasks_ = 1;
  std::vector<std::byte> front_;
  std::vector<Digest> digests_;         // of a signed snapshot: of its tables and of each shard
  std::vector<double> estimated_fprs_;  // of each shard
  std::vector<double> fill_ratios_;
  Lookup filter_lookup_;  // of the filters alone
  std::atomic<std::uint32_t> needed_retrieval_bytes_{0};
  std::atomic<std::uint64_t> keys_in_both_lists_{0};
  KnownAbsentSample sample_;
  KnownAbsentSample passing_sample_;
};

}  // namespace keysieve
