// A filter kind is a const table of functions over shards. One file per kind defines its policy; one line in
// registry.cpp makes it known to the builder, the loader, the command line and PHP.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/filters/instruction_set.hpp"
#include "core/hash/key_hash.hpp"

namespace keysieve {

inline constexpr std::uint32_t kMinShardBytes = 1024;
inline constexpr std::uint32_t kMaxShardBytes = 8192;
inline constexpr std::uint32_t kDefaultShardBytes = 4096;

// Maximum number of shards in a set. A process that attaches it checks the whole shard table at once, which
// takes 3.5 ms for that many; in shards of 4 KiB they hold 4 GiB.
inline constexpr std::uint32_t kMaxShards = 1U << 20;

// 1024, 2048, 4096 or 8192.
constexpr bool is_shard_bytes(std::uint64_t bytes) {
  return bytes >= kMinShardBytes && bytes <= kMaxShardBytes && std::has_single_bit(bytes);
}

// What all shards of a set have in common.
struct FilterParams {
  std::uint32_t shard_bytes = kDefaultShardBytes;  // of the filter
  std::uint8_t hash_count = 0;                     // k: bits, positions or slots that one lookup combines
  std::uint32_t retrieval_bytes = 0;  // of the second level behind it; 0 in a set without known-absent keys

  // From one shard to the next, at most kMaxShardBytes.
  [[nodiscard]] constexpr std::uint32_t stride() const noexcept { return shard_bytes + retrieval_bytes; }
};

// Second levels have a multiple of this.
inline constexpr std::uint32_t kRetrievalUnit = 32;

// One row of a snapshot's dense shard table. The table is stored apart from the shards: measured, a seed
// inside the shard costs a dependent cache miss. Fields that a kind does not need are zero.
struct ShardEntry {
  std::uint16_t key_count = 0;
  std::uint8_t seed = 0;          // for kinds that try again with another one
  std::uint8_t width = 0;         // bits by which each key is compared
  std::uint16_t block_count = 0;  // for kinds that size their table by the shard's keys
  std::uint16_t shape = 0;        // anything else such a kind must know about its table
};
static_assert(sizeof(ShardEntry) == 8);

inline constexpr std::uint32_t kMaxKeysPerShard = UINT16_MAX;  // ShardEntry::key_count

// Everything a lookup needs from a snapshot. Does not own what it points to.
struct ShardArray {
  const std::byte* shards = nullptr;
  const ShardEntry* entries = nullptr;
  std::uint64_t shard_count = 0;  // these two fit 32 bits; as wide as the hash, so that no lookup widens them
  std::uint64_t stride = 0;
  const std::uint8_t* retrieval_seeds = nullptr;  // of each shard; unused without a second level
  int offset_shift = 0;  // shifting a number right by this gives an offset in the filter of a shard
  FilterParams params;

  ShardArray() = default;
  ShardArray(const std::byte* first_shard, const ShardEntry* first_entry, std::uint32_t count,
             const FilterParams& common, const std::uint8_t* first_seed = nullptr) noexcept
      : shards(first_shard),
        entries(first_entry),
        shard_count(count),
        stride(common.stride()),
        retrieval_seeds(first_seed),
        offset_shift(64 - std::countr_zero(common.shard_bytes)),
        params(common) {}

  [[nodiscard]] std::uint64_t index_of(KeyHash hash) const noexcept { return shard_of(hash, shard_count); }
  [[nodiscard]] const std::byte* shard(std::uint64_t index) const noexcept { return shards + index * stride; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return shard_count * stride; }
  // The filter of a shard.
  [[nodiscard]] Bytes shard_bytes(std::uint64_t index) const noexcept {
    return {shard(index), params.shard_bytes};
  }
};

// Lookups of one kind with one instruction set. No allocation, lock, system call or exception; any thread.
struct Lookup {
  bool (*may_contain)(const ShardArray& array, KeyHash hash) noexcept;
  // Hashes shard by shard, prefetches, then probes; results[i] answers hashes[i].
  void (*may_contain_many)(const ShardArray& array, std::span<const KeyHash> hashes, bool* results) noexcept;
};

// Adds and removes keys where counters are kept next to the shard, 4 bits for each of its bits:
// counters_bytes_of(shard bytes). A bit is set exactly when its counter is not 0.
struct Counting {
  void (*add)(MutableBytes shard, MutableBytes counters, const FilterParams& params, KeyHash hash) noexcept;

  // Returns false when the key is not there, or its counters are all saturated; nothing has changed then.
  // Otherwise works as FilterKind::remove.
  bool (*remove)(MutableBytes shard, MutableBytes counters, const FilterParams& params,
                 KeyHash hash) noexcept;
};

constexpr std::uint64_t counters_bytes_of(std::uint64_t shard_bytes) {
  return 4 * shard_bytes;
}

struct FilterKind {
  std::uint8_t id;
  std::string_view name;
  std::string_view summary;  // one line for `keysieve plan` and --help

  // Valid values of FilterParams::hash_count, ascending; sizing chooses from them.
  std::span<const std::uint8_t> (*hash_counts)() noexcept;

  // The speed class of a kind: how many 64-byte cache lines of a shard a lookup of an absent key fetches, not
  // counting fields that cross a line.
  std::uint32_t (*cache_lines)(const FilterParams& params, double keys_per_shard) noexcept;

  // Bytes to which a shard should be aligned, so that a lookup reads no more cache lines than that. Second
  // levels are rounded up to it.
  std::uint32_t shard_alignment;

  // Expected FPR of a set whose shards hold `keys_per_shard` keys on average.
  double (*theoretical_fpr)(const FilterParams& params, double keys_per_shard);

  // How many keys can be added to a shard before it is full; nullptr if only the FPR sets a limit, or if keys
  // cannot be added.
  double (*capacity)(const FilterParams& params) noexcept;

  // Why such an entry is invalid; nullptr when it is valid. A valid entry never leads a lookup out of the
  // shard, whatever the shard's bytes are.
  const char* (*fault_of)(const FilterParams& params, const ShardEntry& entry) noexcept;

  // Fills a zeroed shard and its entry. The keys' hashes are distinct and at most kMaxKeysPerShard.
  void (*build)(MutableBytes shard, ShardEntry& entry, const FilterParams& params,
                std::span<const KeyHash> keys);

  // Adds one key to a shard that was built; nullptr if the kind cannot. Returns false if there is no room for
  // it; nothing has changed then. The caller updates the entry's key count.
  bool (*add)(MutableBytes shard, const ShardEntry& entry, const FilterParams& params, KeyHash hash) noexcept;

  // Removes one key that was built in or added; nullptr if the kind cannot. Returns false if there is no such
  // key; nothing has changed then. Removing a key that is a false positive removes another key instead, so
  // the caller must know that the key is there. The caller updates the entry's key count.
  bool (*remove)(MutableBytes shard, const ShardEntry& entry, const FilterParams& params,
                 KeyHash hash) noexcept;

  // For sets with counters next to the shards; nullptr if the kind has none.
  const Counting* counting;

  // Share of bits set, or of slots taken; nullptr for kinds in which it does not depend on the number of
  // keys.
  double (*fill_ratio)(Bytes shard, const ShardEntry& entry, const FilterParams& params);

  // From the bytes of one shard, per block: the FPR for an absent key that is looked up there.
  double (*estimated_fpr)(Bytes shard, const ShardEntry& entry, const FilterParams& params);

  // The fastest lookups for such a set that these instructions allow.
  Lookup (*lookup)(const FilterParams& params, InstructionSet instructions) noexcept;

  [[nodiscard]] bool can_add() const noexcept { return add != nullptr; }
  [[nodiscard]] bool can_remove() const noexcept { return remove != nullptr; }
  // Whether keys can be removed where counters are kept.
  [[nodiscard]] bool can_count() const noexcept { return counting != nullptr; }
  [[nodiscard]] bool takes_hash_count(std::uint8_t hash_count) const noexcept;
};

// Every kind, in the order of registry.cpp.
std::span<const FilterKind> filter_kinds() noexcept;

// nullptr when unknown.
const FilterKind* find_filter_kind(std::uint8_t id) noexcept;
const FilterKind* find_filter_kind(std::string_view name) noexcept;

// The names of the kinds for which `is_wanted` is true, joined by ", "; "none" if there are none.
std::string kind_names(bool (*is_wanted)(const FilterKind& kind));

// Throws Usage that lists the known names.
const FilterKind& filter_kind_named(std::string_view name);

inline constexpr std::string_view kDefaultKindName = "split_block_bloom";

}  // namespace keysieve
