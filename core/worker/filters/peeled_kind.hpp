// Lookups of kinds whose fingerprint is the exclusive or of k fields at k positions (xor, binary_fuse). Each
// shard has as many bits per field as its keys leave room for.
#pragma once

#include <array>

#include "core/worker/filters/bits.hpp"
#include "core/worker/filters/kind_of.hpp"
#include "core/worker/hash/key_hash.hpp"

namespace keysieve {

namespace peeled {

inline constexpr std::uint32_t kWidest = 32;
template <std::size_t kPositions>
using Positions = std::array<std::uint32_t, kPositions>;

inline std::uint32_t fingerprint_of(std::uint64_t mixed, const PackedFields& fields) noexcept {
  return static_cast<std::uint32_t>(mixed * kC >> 32) & fields.greatest();
}

// `Table` knows the positions of a key in a shard with such an entry.
template <typename Table>
struct Probe {
  static constexpr bool kReadsEntry = true;

  const std::byte* shard;
  PackedFields fields;
  Positions<Table::kPositions> positions;
  std::uint32_t fingerprint;
  bool has_keys;

  [[gnu::always_inline]] inline void prepare(const ShardArray& array, KeyHash hash) noexcept {
    const std::uint64_t index = array.index_of(hash);
    const ShardEntry& entry = array.entries[index];
    const std::uint64_t mixed = remix(hash, entry.seed);
    shard = array.shard(index);
    fields = PackedFields(array.params.shard_bytes, entry.width);
    positions = Table(entry).positions(mixed);
    fingerprint = fingerprint_of(mixed, fields);
    has_keys = entry.key_count != 0;
  }

  [[gnu::always_inline]] inline void prefetch(const ShardArray& /*array*/, KeyHash /*hash*/) const noexcept {
    for (const std::uint32_t position : positions) __builtin_prefetch(shard + fields.word_of(position));
  }

  [[nodiscard, gnu::always_inline]] inline bool may_contain(const ShardArray& /*array*/,
                                                            KeyHash /*hash*/) const noexcept {
    std::uint32_t sum = fingerprint;
    for (const std::uint32_t position : positions) sum ^= fields.get(shard, position);
    return sum == 0 && has_keys;
  }
};

}  // namespace peeled

// Policy::Table<k> is the table of an entry, and Policy::fault_of_table() says why it cannot be.
template <typename Policy>
struct PeeledKind : Policy {
  static std::span<const std::uint8_t> hash_counts() noexcept { return Policy::kHashCountChoice; }

  static const char* fault_of(const FilterParams& params, const ShardEntry& entry) noexcept {
    if (entry.width > peeled::kWidest) return "its fields are wider than they can be";
    if (entry.width == 0) {
      return entry.block_count == 0 && entry.shape == 0 ? nullptr : "it has a table of fields without bits";
    }
    return Policy::fault_of_table(params, entry, 8 * params.shard_bytes / entry.width);
  }

  static Lookup lookup(const FilterParams& params, InstructionSet /*instructions*/) noexcept {
    if (params.hash_count == 3) {
      return lookup_of<BaselineFunctions, peeled::Probe<typename Policy::template Table<3>>>(params);
    }
    return lookup_of<BaselineFunctions, peeled::Probe<typename Policy::template Table<4>>>(params);
  }
};

}  // namespace keysieve
