// The buckets of a cuckoo shard: where a fingerprint may be, and how to make room for one more by moving
// others from one of their buckets to the other.
#pragma once

#include <array>
#include <bitset>

#include "core/filters/bits.hpp"
#include "core/filters/filter_kind.hpp"
#include "core/hash/key_hash.hpp"

namespace keysieve::cuckoo {

inline constexpr std::uint32_t kBucketSlots = 4;
inline constexpr std::uint32_t kNarrowest = 2;  // bits of a fingerprint
inline constexpr std::uint32_t kWidest = 31;    // the reader in PHP reduces to 31 bits
inline constexpr std::uint32_t kMostBuckets = 8 * kMaxShardBytes / (kBucketSlots * kNarrowest);

namespace detail {

constexpr std::array<std::uint32_t, kWidest + 1> all_reciprocals() {
  std::array<std::uint32_t, kWidest + 1> reciprocals{};
  for (std::uint32_t width = kNarrowest; width <= kWidest; ++width) {
    reciprocals[width] = static_cast<std::uint32_t>((std::uint64_t{1} << 32) / width);
  }
  return reciprocals;
}

inline constexpr auto kReciprocals = all_reciprocals();  // 2^32 / width

}  // namespace detail

// 8 * shard_bytes / (kBucketSlots * width), without the division: lookups call this, and shard_bytes is a
// power of two.
constexpr std::uint32_t bucket_count(std::uint32_t shard_bytes, std::uint32_t width) noexcept {
  static_assert(8 / kBucketSlots == 2);
  return static_cast<std::uint32_t>(std::uint64_t{shard_bytes} * detail::kReciprocals[width] >> 31);
}

// The two buckets of a key and the fingerprint to be found in one of them. 0 is an empty slot: no fingerprint
// is 0.
struct Place {
  std::uint32_t fingerprint;
  std::uint32_t bucket;
  std::uint32_t other;
};

class Table {
 public:
  // `width`: kNarrowest to kWidest.
  Table(std::uint32_t shard_bytes, std::uint32_t width) noexcept
      : fields_(shard_bytes, width), buckets_(bucket_count(shard_bytes, width)) {}

  [[nodiscard]] const PackedFields& fields() const noexcept { return fields_; }
  [[nodiscard]] std::uint32_t slots() const noexcept { return buckets_ * kBucketSlots; }

  [[nodiscard]] Place place_of(std::uint64_t mixed) const noexcept {
    const std::uint32_t fingerprint = 1 + reduce(mixed * kC >> 32, fields_.greatest());
    const std::uint32_t bucket = reduce(mixed >> 32, buckets_);
    return {fingerprint, bucket, other_bucket(bucket, fingerprint)};
  }

  // Returns false if no room could be made; nothing has changed then.
  bool insert(std::byte* shard, const Place& place) const noexcept {
    for (const std::uint32_t bucket : {place.bucket, place.other}) {
      const std::uint32_t slot = find(shard, bucket, 0);
      if (slot == kNone) continue;
      fields_.set(shard, slot, place.fingerprint);
      return true;
    }
    return make_room(shard, place);
  }

  // Returns false if there is no such fingerprint.
  bool erase(std::byte* shard, const Place& place) const noexcept {
    for (const std::uint32_t bucket : {place.bucket, place.other}) {
      const std::uint32_t slot = find(shard, bucket, place.fingerprint);
      if (slot == kNone) continue;
      fields_.set(shard, slot, 0);
      return true;
    }
    return false;
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // The two buckets of a fingerprint add up to a number that depends on the fingerprint alone, so each gives
  // the other.
  [[nodiscard]] std::uint32_t other_bucket(std::uint32_t bucket, std::uint32_t fingerprint) const noexcept {
    const std::uint32_t sum = reduce(fold(fingerprint, kA) >> 32, buckets_);
    return sum >= bucket ? sum - bucket : sum + buckets_ - bucket;
  }

  [[nodiscard]] std::uint32_t find(const std::byte* shard, std::uint32_t bucket,
                                   std::uint32_t fingerprint) const noexcept {
    for (std::uint32_t slot = bucket * kBucketSlots; slot < (bucket + 1) * kBucketSlots; ++slot) {
      if (fields_.get(shard, slot) == fingerprint) return slot;
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
        const std::uint32_t bucket = other_bucket(steps[step].bucket, fields_.get(shard, slot));
        if (seen[bucket]) continue;
        seen[bucket] = true;
        const std::uint32_t empty = find(shard, bucket, 0);
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
      fields_.set(shard, empty, fields_.get(shard, last.from_slot));
      fields_.set(shard, last.from_slot, 0);
      empty = last.from_slot;
      last = steps[last.parent];
      if (last.parent == kNone) return;
    }
  }

  PackedFields fields_;
  std::uint32_t buckets_;
};

}  // namespace keysieve::cuckoo
