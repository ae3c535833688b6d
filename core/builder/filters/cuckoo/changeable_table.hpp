// Puts fingerprints into the buckets of a cuckoo shard, and makes room for one more by moving others from one
// of their buckets to the other.
#pragma once

#include <array>
#include <bitset>

#include "core/builder/filters/bits.hpp"
#include "core/worker/filters/cuckoo/table.hpp"

namespace keysieve::cuckoo {

inline constexpr std::uint32_t kMostBuckets = 8 * kMaxShardBytes / (kBucketSlots * kNarrowest);

class ChangeableTable : public Table {
 public:
  using Table::Table;

  // Returns false if no room could be made.
  bool insert(std::byte* shard, const Place& place) const noexcept {
    for (const std::uint32_t bucket : {place.bucket, place.other}) {
      const std::uint32_t slot = empty_slot(shard, bucket);
      if (slot == kNone) continue;
      set_field(shard, fields(), slot, place.fingerprint);
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
  // Measured while 1,800 tables of 1 to 8 KiB were loaded to 95 %: of 670,000 searches that found room, 999
  // of 1,000 listed at most 134 steps, and none more than 299.
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
      set_field(shard, fields(), empty, fields().get(shard, last.from_slot));
      set_field(shard, fields(), last.from_slot, 0);
      empty = last.from_slot;
      last = steps[last.parent];
      if (last.parent == kNone) return;
    }
  }
};

}  // namespace keysieve::cuckoo
