// What builds cuckoo filters.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>

#include "core/builder/filters/expectation.hpp"
#include "core/builder/filters/filter_kind.hpp"
#include "core/worker/filters/cuckoo.hpp"

namespace keysieve::cuckoo {

inline constexpr std::uint32_t kMostBuckets = 8 * kMaxShardBytes / (kBucketSlots * kNarrowest);

// Puts fingerprints into the buckets of a shard, and makes room for one more by moving others from one of
// their buckets to the other.
class ChangeableTable : public Table {
 public:
  using Table::Table;

  // Returns false if no room could be made.
  bool insert(std::byte* shard, const Place& place) const noexcept {
    for (const std::uint32_t bucket : {place.bucket, place.other}) {
      const std::uint32_t slot = empty_slot(shard, bucket);
      if (slot == kNone) continue;
      fields().set(shard, slot, place.fingerprint);
      return true;
    }
    return make_room(shard, place);
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  [[nodiscard]] std::uint32_t empty_slot(const std::byte* shard, std::uint32_t bucket) const noexcept {
    for (std::uint32_t slot = bucket * kBucketSlots; slot < (bucket + 1) * kBucketSlots; ++slot) {
      if (fields().get(shard, slot) == 0) return slot;
    }
    return kNone;
  }

  // A bucket that a fingerprint could move to, with the slot where it is now.
  struct Step {
    std::uint32_t bucket;
    std::uint32_t from_slot;
    std::uint32_t parent;  // step that leads to that slot's bucket; kNone: the bucket is one of the key's own
  };
  // Measured in 670,000 searches that found room, while 1,800 tables of 1 to 8 KiB were loaded to 95 %. In
  // 999 of 1,000 they listed at most 134 steps, and never more than 299.
  static constexpr std::uint32_t kMostSteps = 1024;

  // Searches breadth first, so it finds a shortest way; nothing is moved before the way is known.
  bool make_room(std::byte* shard, const Place& place) const noexcept {
    std::array<Step, kMostSteps> steps;
    std::uint32_t count = 0;
    std::bitset<kMostBuckets> seen;
    for (const std::uint32_t bucket : {place.bucket, place.other}) {
      if (seen[bucket]) continue;
      seen[bucket] = true;
      steps[count++] = {bucket, kNone, kNone};
    }
    for (std::uint32_t step = 0; step < count; ++step) {
      for (std::uint32_t i = 0; i < kBucketSlots; ++i) {
        const std::uint32_t slot = steps[step].bucket * kBucketSlots + i;
        const std::uint32_t bucket = other_bucket(steps[step].bucket, fields().get(shard, slot));
        if (seen[bucket]) continue;
        seen[bucket] = true;
        const std::uint32_t empty = empty_slot(shard, bucket);
        if (empty != kNone) {
          move_along(shard, steps.data(), {bucket, slot, step}, empty);
          return insert(shard, place);
        }
        if (count < kMostSteps) steps[count++] = {bucket, slot, step};
      }
    }
    return false;
  }

  // Moves each fingerprint on the way one step on, the last one into the empty slot.
  void move_along(std::byte* shard, const Step* steps, Step last, std::uint32_t empty) const noexcept {
    for (;;) {
      fields().set(shard, empty, fields().get(shard, last.from_slot));
      fields().set(shard, last.from_slot, 0);
      empty = last.from_slot;
      last = steps[last.parent];
      if (last.parent == kNone) return;
    }
  }
};

}  // namespace keysieve::cuckoo

namespace keysieve {

struct CuckooBuilder : Cuckoo, WithoutValues {
  static constexpr std::string_view kSummary =
      "fingerprints in buckets of four: two cache lines, small at low FPRs";
  static constexpr bool kIsUsual = true;
  static constexpr std::uint32_t kShardAlignment = kRetrievalUnit;

  static void build(MutableBytes shard, ShardEntry& entry, const FilterParams& params,
                    std::span<const KeyHash> keys) {
    entry = {.key_count = static_cast<std::uint16_t>(keys.size())};
    for (std::uint32_t width = widest_for(params, static_cast<double>(keys.size())); width != 0;
         width = narrower(width)) {
      entry.width = static_cast<std::uint8_t>(width);
      for (entry.seed = 0; entry.seed < kTries; ++entry.seed) {
        if (insert_all(shard, entry, keys)) return;
        std::fill(shard.begin(), shard.end(), std::byte{0});
      }
    }
    entry.width = entry.seed = 0;
  }

  static std::uint32_t cache_lines(const FilterParams& /*params*/, double /*keys_per_shard*/) noexcept {
    return 2;
  }

  static double theoretical_fpr(const FilterParams& params, double keys_per_shard) {
    return poisson_mean(keys_per_shard,
                        [&](double keys) { return fpr_of(params, widest_for(params, keys), keys); });
  }

  static double estimated_fpr(Bytes shard, const ShardEntry& entry, const FilterParams& params) {
    return entry.key_count == 0 ? 0.0 : fpr_at(entry.width, fill_ratio(shard, entry, params));
  }

 private:
  static constexpr std::uint8_t kTries = 4;  // per width
  static constexpr double kFullestLoad = 0.95;

  // Returns 0 after the narrowest width: the shard is overfull.
  static std::uint32_t narrower(std::uint32_t width) noexcept {
    return width > cuckoo::kNarrowest ? width - 1 : 0;
  }

  // The widest fingerprint, up to the set's width, that leaves room for that many keys.
  static std::uint32_t widest_for(const FilterParams& params, double keys) noexcept {
    std::uint32_t width = params.hash_count;
    while (width != 0 && keys > kFullestLoad * cuckoo::Table(params.shard_bytes, width).slots())
      width = narrower(width);
    return width;
  }

  static double fpr_of(const FilterParams& params, std::uint32_t width, double keys) {
    if (keys == 0.0) return 0.0;
    return fpr_at(width, width == 0 ? 1.0 : keys / cuckoo::Table(params.shard_bytes, width).slots());
  }

  // An absent key is compared with every fingerprint in two buckets.
  static double fpr_at(std::uint32_t width, double fill_ratio) {
    const double fingerprints = std::ldexp(1.0, static_cast<int>(width)) - 1.0;
    if (fingerprints <= 1.0) return 1.0;
    return 1.0 - std::pow(1.0 - 1.0 / fingerprints, 2.0 * cuckoo::kBucketSlots * fill_ratio);
  }

  static bool insert_all(MutableBytes shard, const ShardEntry& entry,
                         std::span<const KeyHash> keys) noexcept {
    const cuckoo::ChangeableTable table(static_cast<std::uint32_t>(shard.size()), entry.width);
    return std::all_of(keys.begin(), keys.end(), [&](const KeyHash& key) {
      return table.insert(shard.data(), table.place_of(remix(key, entry.seed)));
    });
  }
};

}  // namespace keysieve
