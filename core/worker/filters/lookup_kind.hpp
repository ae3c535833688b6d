// What looks keys up in shards of one kind: a const table of functions. The file of a kind defines them, and
// a line in kinds.hpp makes the kind known to all readers of snapshots. core/builder/filters has the other
// half of each kind.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>

#include "core/worker/base/bytes.hpp"
#include "core/worker/filters/instruction_set.hpp"
#include "core/worker/hash/key_hash.hpp"

namespace keysieve {

inline constexpr std::uint32_t kMinShardBytes = 1024;
inline constexpr std::uint32_t kMaxShardBytes = 8192;
inline constexpr std::uint32_t kDefaultShardBytes = 4096;

// Maximum number of shards in a set. A process that attaches it checks the whole shard table at once, which
// takes 3.5 ms for that many; in shards of 4 KiB they hold 4 GiB.
inline constexpr std::uint32_t kMaxShards = 1U << 20;

// The target FPR of a set; not every kind reaches the lowest (sizing.hpp).
inline constexpr double kMinFpr = 1e-9;
inline constexpr double kMaxFpr = 0.5;

// 1024, 2048, 4096 or 8192.
constexpr bool is_shard_bytes(std::uint64_t bytes) {
  return bytes >= kMinShardBytes && bytes <= kMaxShardBytes && std::has_single_bit(bytes);
}

inline constexpr std::uint8_t kMaxValueBits = 32;

// What all shards of a set have in common.
struct FilterParams {
  std::uint32_t shard_bytes = kDefaultShardBytes;  // of the filter
  std::uint8_t hash_count = 0;                     // k: bits, positions or slots that one lookup combines
  std::uint32_t retrieval_bytes = 0;  // of the second level behind it; 0 in a set without known-absent keys
  std::uint8_t value_bits = 0;        // of each key's value, 1 to 32; 0 in a set that is no map

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

// What a map answers for a key: its value, below 2^32, or one of these.
using MapAnswer = std::uint64_t;
inline constexpr MapAnswer kAbsent = UINT64_MAX;       // not a key of the map
inline constexpr MapAnswer kUnknown = UINT64_MAX - 1;  // the map cannot know: it was added since the build

// Lookups of one kind with one instruction set. No allocation, lock, system call or exception; any thread.
struct Lookup {
  bool (*may_contain)(const ShardArray& array, KeyHash hash) noexcept;
  // Hashes shard by shard, prefetches, then probes; results[i] answers hashes[i].
  void (*may_contain_many)(const ShardArray& array, std::span<const KeyHash> hashes, bool* results) noexcept;
  // Begins to load what may_contain() will read first, for a caller who has other things to do before.
  void (*prefetch)(const ShardArray& array, KeyHash hash) noexcept;
  // In a map alone, else nullptr. A key of the map has its value. Any other key is absent, or with the
  // probability of the FPR it has some value.
  MapAnswer (*find)(const ShardArray& array, KeyHash hash) noexcept = nullptr;
  void (*find_many)(const ShardArray& array, std::span<const KeyHash> hashes,
                    MapAnswer* results) noexcept = nullptr;
};

struct LookupKind {
  std::uint8_t id;
  std::string_view name;

  // Valid values of FilterParams::hash_count, ascending; sizing chooses from them.
  std::span<const std::uint8_t> hash_counts;

  // Why such an entry is invalid; nullptr when it is valid. A valid entry never leads a lookup out of the
  // shard, whatever the shard's bytes are.
  const char* (*fault_of)(const FilterParams& params, const ShardEntry& entry) noexcept;

  // Share of bits set, or of slots taken; nullptr for kinds in which it does not depend on the number of
  // keys.
  double (*fill_ratio)(Bytes shard, const ShardEntry& entry, const FilterParams& params);

  // The fastest lookups for such a set that these instructions allow.
  Lookup (*lookup)(const FilterParams& params, InstructionSet instructions) noexcept;

  [[nodiscard]] bool takes_hash_count(std::uint8_t hash_count) const noexcept;
  // Whether a set of this kind can be a map.
  [[nodiscard]] bool can_have_values() const noexcept;
};

// A function of that type.
template <typename Function, typename Type>
concept IsFunction = std::convertible_to<Function, Type*>;

// What the file of a kind defines, itself or by BitKind or PeeledKind.
template <typename Policy>
concept LookupPolicy = requires {
  { Policy::kId } -> std::convertible_to<decltype(LookupKind::id)>;  // one that no kind has ever had
  { Policy::kName } -> std::convertible_to<decltype(LookupKind::name)>;
  { Policy::kHashCounts } -> std::convertible_to<decltype(LookupKind::hash_counts)>;
  { Policy::fault_of } -> std::convertible_to<decltype(LookupKind::fault_of)>;
  { Policy::fill_ratio } -> std::convertible_to<decltype(LookupKind::fill_ratio)>;
  { Policy::lookup } -> std::convertible_to<decltype(LookupKind::lookup)>;
};

// Values of kHashCounts: all from kFirst to kLast. There are no gaps: HASH_COUNTS of the kinds in PHP holds
// the first and the last.
template <std::uint8_t kFirst, std::uint8_t kLast = kFirst>
inline constexpr auto kCounts = [] {
  std::array<std::uint8_t, std::size_t{kLast} - kFirst + 1> counts{};
  std::iota(counts.begin(), counts.end(), kFirst);
  return counts;
}();

// Every kind, in the order of kinds.hpp.
std::span<const LookupKind> lookup_kinds() noexcept;

// nullptr when unknown.
const LookupKind* find_lookup_kind(std::uint8_t id) noexcept;

}  // namespace keysieve
