// What builds shards of one kind: a const table of functions. The file of a kind defines them, as the one of
// its lookups does (core/worker/filters); a line in filter_kind.cpp makes the kind known to the builder, the
// loader and the command line.
#pragma once

#include <functional>
#include <string>

#include "core/worker/filters/lookup_kind.hpp"

namespace keysieve {

struct FilterKind : LookupKind {
  std::string_view summary = {};  // one line for `keysieve plan` and --help
  bool is_usual = false;          // one to choose; the others are for comparison

  // The speed class of a kind: how many 64-byte cache lines of a shard a lookup of an absent key fetches, not
  // counting fields that cross a line.
  std::uint32_t (*cache_lines)(const FilterParams& params, double keys_per_shard) noexcept = nullptr;

  // Bytes to which a shard should be aligned, so that a lookup reads no more cache lines than that. Second
  // levels are rounded up to it.
  std::uint32_t shard_alignment = 0;

  // Expected FPR of a set whose shards hold `keys_per_shard` keys on average.
  double (*theoretical_fpr)(const FilterParams& params, double keys_per_shard) = nullptr;

  // Fills a zeroed shard and its entry. The keys' hashes are distinct and at most kMaxKeysPerShard.
  void (*build)(MutableBytes shard, ShardEntry& entry, const FilterParams& params,
                std::span<const KeyHash> keys) = nullptr;

  // How many keys have room for their values in a shard of a map; nullptr if the kind cannot have values.
  double (*value_capacity)(const FilterParams& params) noexcept = nullptr;

  // As build() for a shard of a map: values[i] belongs to keys[i] and has params.value_bits bits. nullptr if
  // the kind cannot have values. Returns false if the shard has no room for them.
  bool (*build_map)(MutableBytes shard, ShardEntry& entry, const FilterParams& params,
                    std::span<const KeyHash> keys, std::span<const std::uint32_t> values) = nullptr;

  // From the bytes of one shard, per block: the FPR for an absent key that is looked up there.
  double (*estimated_fpr)(Bytes shard, const ShardEntry& entry, const FilterParams& params) = nullptr;
};

// For builders of kinds whose keys cannot have values.
struct WithoutValues {
  // NOLINTNEXTLINE(readability-identifier-naming): in place of a function
  static constexpr std::nullptr_t value_capacity = nullptr;
  // NOLINTNEXTLINE(readability-identifier-naming): in place of a function
  static constexpr std::nullptr_t build_map = nullptr;
};

// What the builder of a kind defines besides its LookupPolicy, here or by BitBuilder or PeeledBuilder.
template <typename Policy>
concept BuildPolicy = requires {
  { Policy::kSummary } -> std::convertible_to<decltype(FilterKind::summary)>;
  { Policy::kIsUsual } -> std::convertible_to<decltype(FilterKind::is_usual)>;
  { Policy::cache_lines } -> std::convertible_to<decltype(FilterKind::cache_lines)>;
  { Policy::kShardAlignment } -> std::convertible_to<decltype(FilterKind::shard_alignment)>;
  { Policy::theoretical_fpr } -> std::convertible_to<decltype(FilterKind::theoretical_fpr)>;
  { Policy::build } -> std::convertible_to<decltype(FilterKind::build)>;
  { Policy::value_capacity } -> std::convertible_to<decltype(FilterKind::value_capacity)>;
  { Policy::build_map } -> std::convertible_to<decltype(FilterKind::build_map)>;
  { Policy::estimated_fpr } -> std::convertible_to<decltype(FilterKind::estimated_fpr)>;
};

// Every kind, in the order of filter_kind.cpp.
std::span<const FilterKind> filter_kinds() noexcept;

// nullptr when unknown.
const FilterKind* find_filter_kind(std::uint8_t id) noexcept;
const FilterKind* find_filter_kind(std::string_view name) noexcept;

// The kind whose lookups these are.
const FilterKind& filter_kind_of(const LookupKind& kind) noexcept;

// The names of the kinds for which `is_wanted` is true, joined by ", "; "none" if there are none.
std::string kind_names(const std::function<bool(const FilterKind& kind)>& is_wanted);

// Throws Usage that lists the known names.
const FilterKind& filter_kind_named(std::string_view name);

inline constexpr std::string_view kDefaultKindName = "split_block_bloom";
inline constexpr std::string_view kMapKindName = "ribbon";

}  // namespace keysieve
