// The buckets of a cuckoo shard: where a fingerprint may be.
#pragma once

#include <array>

#include "core/worker/filters/bits.hpp"
#include "core/worker/filters/lookup_kind.hpp"
#include "core/worker/hash/key_hash.hpp"

namespace keysieve::cuckoo {

inline constexpr std::uint32_t kBucketSlots = 4;
inline constexpr std::uint32_t kNarrowest = 2;  // bits of a fingerprint
inline constexpr std::uint32_t kWidest = 31;    // the reader in PHP reduces to 31 bits

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

  // The two buckets of a fingerprint add up to a number that depends on the fingerprint alone, so each gives
  // the other.
  [[nodiscard]] std::uint32_t other_bucket(std::uint32_t bucket, std::uint32_t fingerprint) const noexcept {
    const std::uint32_t sum = reduce(fold(fingerprint, kA) >> 32, buckets_);
    return sum >= bucket ? sum - bucket : sum + buckets_ - bucket;
  }

 private:
  PackedFields fields_;
  std::uint32_t buckets_;
};

}  // namespace keysieve::cuckoo
