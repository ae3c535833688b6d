// Builders of kinds whose fingerprint is the exclusive or of k fields at k positions. A build peels the keys:
// again and again it takes away a key that is alone at one of its positions, then fills the fields in the
// opposite order. When it gets stuck, it tries another seed.
#pragma once

#include <cmath>
#include <vector>

#include "core/builder/filters/expectation.hpp"
#include "core/builder/filters/filter_kind.hpp"
#include "core/worker/filters/peeled_kind.hpp"

namespace keysieve {

namespace peeled {

inline constexpr std::uint32_t kTries = 32;  // per width

// Keys in the order in which they were taken away, with the position at which each was alone.
struct Peeled {
  std::uint32_t key;
  std::uint32_t position;
};

// Empty if some keys cannot be taken away.
template <std::size_t kPositions>
std::vector<Peeled> peel(std::span<const Positions<kPositions>> keys, std::uint32_t slots) {
  struct Slot {
    std::uint32_t keys = 0;
    std::uint32_t sum = 0;  // exclusive or of their numbers: the number itself once there is only one
  };
  std::vector<Slot> table(slots);
  for (std::uint32_t key = 0; key < keys.size(); ++key) {
    for (const std::uint32_t position : keys[key]) {
      ++table[position].keys;
      table[position].sum ^= key;
    }
  }
  std::vector<std::uint32_t> alone;
  for (std::uint32_t position = 0; position < slots; ++position) {
    if (table[position].keys == 1) alone.push_back(position);
  }
  std::vector<Peeled> order;
  order.reserve(keys.size());
  while (!alone.empty()) {
    const std::uint32_t last = alone.back();
    alone.pop_back();
    if (table[last].keys != 1) continue;
    const std::uint32_t key = table[last].sum;
    order.push_back({key, last});
    for (const std::uint32_t position : keys[key]) {
      --table[position].keys;
      table[position].sum ^= key;
      if (table[position].keys == 1) alone.push_back(position);
    }
  }
  if (order.size() < keys.size()) order.clear();
  return order;
}

}  // namespace peeled

template <typename Policy>
concept PeeledBuildPolicy = PeeledPolicy<Policy> && requires {
  // Gives the entry a table of at most that many slots that should be enough for its keys, or returns false
  // if there is none.
  { Policy::size } -> IsFunction<bool(ShardEntry&, const FilterParams&, std::uint32_t slots) noexcept>;
};

template <PeeledBuildPolicy Policy>
struct PeeledBuilder : Policy, WithoutValues {
  static constexpr std::uint32_t kShardAlignment = kRetrievalUnit;

  static void build(MutableBytes shard, ShardEntry& entry, const FilterParams& params,
                    std::span<const KeyHash> keys) {
    if (params.hash_count == 3) {
      build_with<typename Policy::template Table<3>>(shard, entry, params, keys);
    } else {
      build_with<typename Policy::template Table<4>>(shard, entry, params, keys);
    }
  }

  static std::uint32_t cache_lines(const FilterParams& params, double /*keys_per_shard*/) noexcept {
    return params.hash_count;
  }

  static double theoretical_fpr(const FilterParams& params, double keys_per_shard) {
    return poisson_mean(keys_per_shard, [&](double keys) {
      ShardEntry entry{.key_count = static_cast<std::uint16_t>(std::fmin(keys, kMaxKeysPerShard))};
      size_table(entry, params, peeled::kWidest);
      return estimated_fpr({}, entry, params);
    });
  }

  static double estimated_fpr(Bytes /*shard*/, const ShardEntry& entry, const FilterParams& /*params*/) {
    return entry.key_count == 0 ? 0.0 : std::ldexp(1.0, -int{entry.width});
  }

 private:
  // Chooses the widest fields, up to `widest`, for which there is enough room.
  static void size_table(ShardEntry& entry, const FilterParams& params, std::uint32_t widest) {
    for (std::uint32_t width = widest; width > 0; --width) {
      entry.width = static_cast<std::uint8_t>(width);
      if (Policy::size(entry, params, 8 * params.shard_bytes / width)) return;
    }
    entry = {.key_count = entry.key_count};
  }

  // At worst the fields have no bits, and lookups in the shard answer maybe.
  template <typename Table>
  static void build_with(MutableBytes shard, ShardEntry& entry, const FilterParams& params,
                         std::span<const KeyHash> keys) {
    entry = {.key_count = static_cast<std::uint16_t>(keys.size())};
    if (keys.empty()) return;
    for (std::uint32_t widest = peeled::kWidest;; widest = entry.width - 1U) {
      size_table(entry, params, widest);
      if (entry.width == 0) return;
      for (std::uint32_t seed = 0; seed < peeled::kTries; ++seed) {
        entry.seed = static_cast<std::uint8_t>(seed);
        if (fill<Table>(shard, entry, keys)) return;
      }
    }
  }

  template <typename Table>
  static bool fill(MutableBytes shard, const ShardEntry& entry, std::span<const KeyHash> keys) {
    const Table table(entry);
    std::vector<peeled::Positions<Table::kPositions>> positions;
    positions.reserve(keys.size());
    for (const KeyHash& key : keys) positions.push_back(table.positions(remix(key, entry.seed)));
    const auto order = peeled::peel<Table::kPositions>(positions, table.slots());
    if (order.empty()) return false;
    const PackedFields fields(static_cast<std::uint32_t>(shard.size()), entry.width);
    for (auto peeled = order.rbegin(); peeled != order.rend(); ++peeled) {
      std::uint32_t sum = peeled::fingerprint_of(remix(keys[peeled->key], entry.seed), fields);
      for (const std::uint32_t position : positions[peeled->key]) sum ^= fields.get(shard.data(), position);
      fields.set(shard.data(), peeled->position, sum);
    }
    return true;
  }
};

}  // namespace keysieve
