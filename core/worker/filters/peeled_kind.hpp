// Lookups of kinds whose fingerprint is the exclusive or of k fields at k positions. Each shard has as many
// bits per field as its keys leave room for.
#pragma once

#include <array>

#include "core/worker/filters/bits.hpp"
#include "core/worker/filters/lookup_of.hpp"

namespace keysieve {

namespace peeled {

inline constexpr std::uint32_t kWidest = 32;
template <std::size_t kPositions>
using Positions = std::array<std::uint32_t, kPositions>;

inline std::uint32_t fingerprint_of(std::uint64_t mixed, const PackedFields& fields) noexcept {
  return static_cast<std::uint32_t>(mixed * kC >> 32) & fields.greatest();
}

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

using FaultOfTable = const char*(const FilterParams&, const ShardEntry&, std::uint32_t slots) noexcept;

template <typename Policy>
concept PeeledPolicy = requires(const ShardEntry& entry, std::uint64_t mixed) {
  // The table of an entry, for 3 or 4 positions: how many slots it has, and where a key is in it.
  { typename Policy::template Table<4>(entry).slots() } -> std::same_as<std::uint32_t>;
  { typename Policy::template Table<4>(entry).positions(mixed) } -> std::same_as<peeled::Positions<4>>;
  // Why a shard with room for that many slots cannot have the table; nullptr: it can.
  { Policy::fault_of_table } -> IsFunction<FaultOfTable>;
};

template <PeeledPolicy Policy>
struct PeeledKind : Policy {
  // NOLINTNEXTLINE(readability-identifier-naming): in place of a function
  static constexpr std::nullptr_t fill_ratio = nullptr;

  static const char* fault_of(const FilterParams& params, const ShardEntry& entry) noexcept {
    if (entry.width > peeled::kWidest) return "its fields are wider than they can be";
    if (entry.width == 0) {
      return entry.block_count == 0 && entry.shape == 0 ? nullptr : "it has a table of fields without bits";
    }
    return Policy::fault_of_table(params, entry, 8 * params.shard_bytes / entry.width);
  }

  static Lookup lookup(const FilterParams& params, InstructionSet /*instructions*/) noexcept {
    if (params.hash_count == 3) {
      return lookup_of<BaselineCode, peeled::Probe<typename Policy::template Table<3>>>(params);
    }
    return lookup_of<BaselineCode, peeled::Probe<typename Policy::template Table<4>>>(params);
  }
};

}  // namespace keysieve
