// Builds the bytes of a snapshot from keys, in three passes: hash the keys and split them into partitions;
// sort each partition, which counts the distinct keys, and size the set by that count; fill the shards.
// Memory: 8 bytes per given key and some 15 MB per thread, unless a limit is set, plus the result of
// finish(). The same keys and settings give the same bytes, whatever the order of the keys, the number of
// threads and the memory.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/builder/filters/sizing.hpp"
#include "core/builder/partition/hash_partitions.hpp"
#include "core/builder/snapshot/map_values.hpp"
#include "core/builder/snapshot/signer.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/snapshot/layout.hpp"
#include "core/worker/snapshot/snapshot.hpp"

namespace keysieve {

// Moments are Unix seconds, up to the year 33658.
struct BuildSettings {
  std::string set_name;  // as checked_set_name()
  const FilterKind* kind = find_filter_kind(kDefaultKindName);
  // As in SizingRequest; the number of keys is counted.
  double target_fpr = 0.01;
  double growth = 1.0;
  std::uint32_t shard_bytes = kDefaultShardBytes;  // 1024, 2048, 4096 or 8192
  HashSeed seed{1};                                // not zero; a random one, unless sets are to share it
  UnixSeconds as_of = 0;                           // when the keys began to be read from their source
  UnixSeconds valid_for = 0;                       // from as_of on; 0: without end
  LogPosition adds_from{};    // the last entry of the adds log that the keys certainly include
  UnixSeconds built_at = 0;   // 0: now
  BuildId build_id{};         // all zero: random
  std::string key_profile{};  // at most kKeyProfileBytes bytes without NUL
  // oldest_ to newest_snapshot_format(). Use the one before while some hosts still run older readers.
  std::uint16_t format = newest_snapshot_format();

  // Sticky geometry: kept as long as its theoretical FPR for the new keys stays within target_fpr (with the
  // slack below); otherwise the set is sized again.
  std::optional<Geometry> like{};

  const Signer* signer = nullptr;  // must outlive the builder; nullptr: the snapshot is not signed

  // The values of a map; nullptr for other sets. They must be complete before size(), and outlive the
  // builder.
  const MapValues* values = nullptr;

  // Whether known-absent keys will be added. They share the memory with the keys.
  bool has_known_absent = false;
};

// How far the theoretical FPR of a sticky geometry may be above the target before the set is sized again.
inline constexpr double kStickySlack = 1.10;

struct BuildResources {
  unsigned threads = 1;  // at most; 1 to kMostThreads
  // Everything the process may hold, including what it holds already; kept by using temporary files. Applies
  // to write(): the result of finish() comes on top.
  std::uint64_t memory_bytes = kNoMemoryLimit;
  std::string temporary_folder = ".";
  // Called now and then by the thread that called size() or write(): for example done = 12, total = 256, what
  // = "partitions sorted".
  std::function<void(std::uint64_t done, std::uint64_t total, std::string_view what)> progress{};
};

// Call add() (any threads), then size(), then write() or finish(); one thread from size() on. After an
// exception only the destructor may be called.
class SnapshotBuilder {
 public:
  // Throws Usage for a setting out of range, or a memory limit that is too small.
  explicit SnapshotBuilder(BuildSettings settings, BuildResources resources = {});

  // What the resources allow: that many threads may add keys at once, each with its own number from 0 on, and
  // keys up to that length.
  [[nodiscard]] unsigned threads() const noexcept { return plan_.threads; }
  [[nodiscard]] std::size_t most_key_bytes() const noexcept { return plan_.most_key_bytes; }

  // Hashes keys for this snapshot. Any thread.
  [[nodiscard]] const KeyHasher& hasher() const noexcept { return hasher_; }

  // Keys of any bytes, at most most_key_bytes() each; they are hashed and not kept. Both throw CannotCreate
  // or Permission when a temporary file cannot be written, and std::bad_alloc.
  void add(std::string_view key) { add(0, {&key, 1}); }
  void add(unsigned thread, std::span<const std::string_view> keys);

  // Known-absent keys, to which the set answers absent for certain. One that is a key of the set as well
  // counts as a key of the set.
  void add_known_absent(unsigned thread, std::span<const std::string_view> keys);

  // Number of keys given so far, including duplicates. Any thread.
  [[nodiscard]] std::uint64_t keys_given() const noexcept { return keys_given_; }
  [[nodiscard]] std::uint64_t known_absent_given() const noexcept { return known_absent_given_; }

  // Call after the last key: counts the distinct keys and chooses the geometry; returns the size of the
  // snapshot in bytes. A set may have no keys; the publisher's guards decide whether to accept that. Throws
  // Usage if the kind cannot reach the target or the tables do not fit into the memory limit, MissingInput if
  // a temporary file cannot be read back, what add() throws, and what `progress` throws.
  std::uint64_t size();
  // Builds the snapshot: hands over each byte of it, the header last. Several threads call `write_at` at
  // once. If more known-absent keys pass the filters than a random list would, all of it is handed over a
  // second time, with larger second levels. Throws Data for an overfull shard, and if second levels would be
  // larger than shards can be; also what size() and `write_at` throw.
  void write(const WriteAt& write_at);
  // The fill ratio of the snapshot that was written, as SnapshotView::fill_ratio().
  [[nodiscard]] std::optional<double> fill_ratio() const;
  // How many known-absent keys were keys of the set; 0 before write().
  [[nodiscard]] std::uint64_t keys_in_both_lists() const noexcept { return keys_in_both_lists_; }

  // size() and write() into memory, and throws what they throw. Must be the last call, and only once.
  SnapshotBytes finish();

 private:
  // Call once for each list, after its last key.
  [[nodiscard]] std::uint64_t count_distinct(HashPartitions& partitions) const;
  [[nodiscard]] Geometry geometry() const;
  [[nodiscard]] SnapshotLayout layout() const;
  [[nodiscard]] SnapshotHeader header() const;
  // False if the second levels must be larger; the geometry is so then.
  bool try_write(const WriteAt& write_at);
  void enlarge_second_levels(std::uint32_t bytes);
  void show_progress(unsigned thread, std::uint64_t done, std::uint64_t total, std::string_view what) const;

  BuildSettings settings_;
  KeyHasher hasher_;
  BuildResources resources_;
  MemoryPlan plan_;
  HashPartitions partitions_;
  std::unique_ptr<HashPartitions> known_absent_;  // nullptr if there are none
  std::atomic<std::uint64_t> keys_given_{0};
  std::atomic<std::uint64_t> known_absent_given_{0};
  std::uint64_t key_count_ = 0;
  std::uint64_t known_absent_count_ = 0;  // distinct; may be in the set
  std::uint64_t keys_in_both_lists_ = 0;
  Geometry geometry_;
  SnapshotLayout layout_{};
  std::optional<double> fill_ratio_;
};

// The geometry a snapshot was built with, for BuildSettings::like. Requires a header that was decoded.
Geometry geometry_of(const SnapshotHeader& header);
inline Geometry geometry_of(const SnapshotView& snapshot) {
  return geometry_of(snapshot.header());
}

}  // namespace keysieve
