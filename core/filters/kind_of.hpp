// Makes the table of functions of a kind from its policy: a struct of stateless static functions over one
// shard. What all kinds share (which shard, its address, prefetching a batch) is written here once.
#pragma once

#include <algorithm>
#include <array>

#include "core/filters/filter_kind.hpp"

namespace keysieve {

template <typename Policy>
struct KindFunctions {
  // Keys in flight between prefetch and probe: the lines of 32 keys fit any first-level cache, and 20, the
  // keys of a page, go in one round.
  static constexpr std::size_t kBatch = 32;

  static void build(MutableBytes shard, ShardEntry& entry, const FilterParams& params,
                    std::span<const KeyHash> keys) {
    for (const KeyHash& key : keys) Policy::add(shard.data(), params, key.low);
    entry.key_count = static_cast<std::uint16_t>(keys.size());
  }

  static void add(MutableBytes shard, const FilterParams& params, KeyHash hash) noexcept {
    Policy::add(shard.data(), params, hash.low);
  }

  static bool may_contain(const ShardArray& array, KeyHash hash) noexcept {
    return Policy::may_contain(array.shard(shard_of(hash, array.shard_count)), array.params, hash.low);
  }

  static void may_contain_many(const ShardArray& array, std::span<const KeyHash> hashes,
                               bool* results) noexcept {
    while (!hashes.empty()) {
      const auto batch = hashes.first(std::min(hashes.size(), kBatch));
      std::array<const std::byte*, kBatch> shards;
      for (std::size_t i = 0; i < batch.size(); ++i) {
        shards[i] = array.shard(shard_of(batch[i], array.shard_count));
        Policy::prefetch(shards[i], array.params, batch[i].low);
      }
      for (std::size_t i = 0; i < batch.size(); ++i) {
        results[i] = Policy::may_contain(shards[i], array.params, batch[i].low);
      }
      results += batch.size();
      hashes = hashes.subspan(batch.size());
    }
  }
};

template <typename Policy>
constexpr FilterKind kind_of() {
  using Functions = KindFunctions<Policy>;
  return {
      .id = Policy::kId,
      .name = Policy::kName,
      .summary = Policy::kSummary,
      .block_bytes = Policy::kBlockBytes,
      .min_hash_count = Policy::kMinHashCount,
      .max_hash_count = Policy::kMaxHashCount,
      .can_remove = false,
      .theoretical_fpr = Policy::theoretical_fpr,
      .build = Functions::build,
      .add = Functions::add,
      .estimated_fpr = Policy::estimated_fpr,
      .may_contain = Functions::may_contain,
      .may_contain_many = Functions::may_contain_many,
  };
}

}  // namespace keysieve
