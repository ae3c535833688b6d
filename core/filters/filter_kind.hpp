// What a filter kind is: a const table of functions over shards. One file per kind defines its policy, one
// line in registry.cpp makes it known to builder, loader, command line and PHP.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/hash/key_hash.hpp"

namespace keysieve {

inline constexpr std::uint32_t kMinShardBytes = 1024;
inline constexpr std::uint32_t kMaxShardBytes = 8192;
inline constexpr std::uint32_t kDefaultShardBytes = 4096;

// 1024, 2048, 4096 or 8192.
constexpr bool is_shard_bytes(std::uint64_t bytes) {
  return bytes >= kMinShardBytes && bytes <= kMaxShardBytes && std::has_single_bit(bytes);
}

// What all shards of a set have in common.
struct FilterParams {
  std::uint32_t shard_bytes = kDefaultShardBytes;
  std::uint8_t hash_count = 0;  // k: bits set per key
};

// One row of a snapshot's dense shard table. It stands beside the shards, not inside them: measured, a seed
// inside the shard costs a dependent cache miss. The kinds of today need key_count alone; the others are for
// ribbon.
struct ShardEntry {
  std::uint16_t key_count = 0;
  std::uint8_t seed = 0;
  std::uint8_t width = 0;
  std::uint16_t upper_start = 0;
  std::uint16_t reserved = 0;
};
static_assert(sizeof(ShardEntry) == 8);

inline constexpr std::uint32_t kMaxKeysPerShard = UINT16_MAX;  // ShardEntry::key_count

// All that a lookup needs of a snapshot. Does not own what it points to.
struct ShardArray {
  const std::byte* shards = nullptr;
  const ShardEntry* entries = nullptr;
  std::uint32_t shard_count = 0;
  FilterParams params;

  [[nodiscard]] const std::byte* shard(std::uint32_t index) const noexcept {
    return shards + std::uint64_t{index} * params.shard_bytes;
  }
  [[nodiscard]] Bytes shard_bytes(std::uint32_t index) const noexcept {
    return {shard(index), params.shard_bytes};
  }
};

struct FilterKind {
  std::uint8_t id;
  std::string_view name;
  std::string_view summary;   // one line for `keysieve plan` and --help
  std::uint32_t block_bytes;  // what one lookup touches; 0: positions all over the shard
  std::uint8_t min_hash_count;
  std::uint8_t max_hash_count;
  bool can_remove;

  // Expected FPR of a set whose shards hold `keys_per_shard` keys on average.
  double (*theoretical_fpr)(const FilterParams& params, double keys_per_shard);

  // Fills a zeroed shard. The keys' hashes are distinct and at most kMaxKeysPerShard.
  void (*build)(MutableBytes shard, ShardEntry& entry, const FilterParams& params,
                std::span<const KeyHash> keys);

  // Adds one key to a shard that was built; nullptr where the kind cannot. A key that is there already
  // changes nothing. Does not count it in the entry: whether it was new nobody can tell.
  void (*add)(MutableBytes shard, const FilterParams& params, KeyHash hash) noexcept;

  // From the bytes of one shard, per block: the FPR of an absent key that is looked up there.
  double (*estimated_fpr)(Bytes shard, const FilterParams& params);

  // Lookup. No allocation, lock, system call or exception; any thread. `many` hashes shard by shard,
  // prefetches, then probes; results[i] answers hashes[i].
  bool (*may_contain)(const ShardArray& array, KeyHash hash) noexcept;
  void (*may_contain_many)(const ShardArray& array, std::span<const KeyHash> hashes, bool* results) noexcept;

  [[nodiscard]] bool can_add() const noexcept { return add != nullptr; }
};

// Every kind, in the order of their ids.
std::span<const FilterKind> filter_kinds() noexcept;

// nullptr when unknown.
const FilterKind* find_filter_kind(std::uint8_t id) noexcept;
const FilterKind* find_filter_kind(std::string_view name) noexcept;

// The names of those for which `is_wanted` is true, with ", " between them; "none".
std::string kind_names(bool (*is_wanted)(const FilterKind& kind));

// Throws UsageError that lists the known names.
const FilterKind& filter_kind_named(std::string_view name);

inline constexpr std::string_view kDefaultKindName = "split_block_bloom";

}  // namespace keysieve
