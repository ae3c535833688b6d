// Cuckoo filter: a fingerprint of each key in one of two buckets of four slots. Source: Fan, Andersen,
// Kaminsky, Mitzenmacher, "Cuckoo filter: practically better than Bloom" (2014). Differs from it in two ways:
// the number of buckets can be any, and a shard with more keys than its slots can take gets narrower
// fingerprints in more slots, so that no build loops or fails.
#pragma once

#include <array>

#include "core/worker/filters/bits.hpp"
#include "core/worker/filters/lookup_of.hpp"

// The buckets of a shard: where a fingerprint may be.
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

namespace keysieve {

struct Cuckoo {
  static constexpr std::uint8_t kId = 5;
  static constexpr std::string_view kName = "cuckoo";

  // Bits of a fingerprint, in shards whose keys leave room for that many.
  static constexpr auto& kHashCounts = kCounts<4, cuckoo::kWidest>;

  static const char* fault_of(const FilterParams& params, const ShardEntry& entry) noexcept {
    if (entry.width > params.hash_count) return "its fingerprints are wider than the set's";
    if (entry.width != 0 && entry.width < cuckoo::kNarrowest) return "its fingerprints are too narrow";
    return entry.block_count == 0 && entry.shape == 0 ? nullptr : "its kind has no block count or shape";
  }

  static double fill_ratio(Bytes shard, const ShardEntry& entry, const FilterParams& params) {
    if (entry.width == 0) return 1.0;
    const cuckoo::Table table(params.shard_bytes, entry.width);
    double taken = 0.0;
    for (std::uint32_t slot = 0; slot < table.slots(); ++slot) {
      taken += table.fields().get(shard.data(), slot) == 0 ? 0.0 : 1.0;
    }
    return taken / table.slots();
  }

  struct Probe {
    static constexpr bool kReadsEntry = true;

    const std::byte* shard;
    PackedFields fields;
    cuckoo::Place place;
    bool is_overfull;  // more keys than fit, so no table: every lookup answers maybe

    [[gnu::always_inline]] inline void prepare(const ShardArray& array, KeyHash hash) noexcept {
      const std::uint64_t index = array.index_of(hash);
      const ShardEntry& entry = array.entries[index];
      const cuckoo::Table table(array.params.shard_bytes,
                                std::max<std::uint32_t>(entry.width, cuckoo::kNarrowest));
      shard = array.shard(index);
      fields = table.fields();
      place = table.place_of(remix(hash, entry.seed));
      is_overfull = entry.width == 0 && entry.key_count != 0;
    }

    // Without a branch between the buckets the processor overlaps the lookups of a batch on its own, and
    // prefetching one bucket or both took twice the time (512 MB, tools/workshop/bench/run lookup).
    [[gnu::always_inline]] inline void prefetch(const ShardArray& /*array*/,
                                                KeyHash /*hash*/) const noexcept {}

    // Always looks into both buckets: a branch on the first could not be predicted.
    [[nodiscard, gnu::always_inline]] inline bool may_contain(const ShardArray& /*array*/,
                                                              KeyHash /*hash*/) const noexcept {
      const std::uint32_t width = fields.width();
      if (width > kWidestOfOneWord) return holds_wide(shard, fields, place);
      const std::uint64_t ones =
          1 | std::uint64_t{1} << width | std::uint64_t{1} << 2 * width | std::uint64_t{1} << 3 * width;
      const std::uint64_t found = matches(place.bucket, ones) | matches(place.other, ones);
      return ((found & ones << (width - 1)) | std::uint64_t{is_overfull}) != 0;
    }

   private:
    static constexpr std::uint32_t kWidestOfOneWord = 15;  // four fields that may begin inside a byte

    // Sets the topmost bit of each field of the bucket that equals the fingerprint, if any does: subtracting
    // 1 borrows from it only if the difference was 0, or if a field below was.
    [[nodiscard]] std::uint64_t matches(std::uint32_t bucket, std::uint64_t ones) const noexcept {
      const std::uint32_t first = bucket * cuckoo::kBucketSlots;
      const std::uint32_t word = fields.word_of(first);
      const std::uint64_t differences =
          load<std::uint64_t>(shard + word) >> (first * fields.width() - 8 * word) ^ ones * place.fingerprint;
      return (differences - ones) & ~differences;
    }

    // A separate function that does not take the probe's address, so that the probe stays in registers.
    [[gnu::noinline]] static bool holds_wide(const std::byte* shard, PackedFields fields,
                                             cuckoo::Place place) noexcept {
      bool found = false;
      for (std::uint32_t i = 0; i < cuckoo::kBucketSlots; ++i) {
        found |= fields.get(shard, place.bucket * cuckoo::kBucketSlots + i) == place.fingerprint;
        found |= fields.get(shard, place.other * cuckoo::kBucketSlots + i) == place.fingerprint;
      }
      return found;
    }
  };

  static Lookup lookup(const FilterParams& params, InstructionSet instructions) noexcept {
#if KEYSIEVE_X86_64
    if (instructions == InstructionSet::Avx2) return lookup_of<Avx2Code, Probe>(params);
#endif
    static_cast<void>(instructions);
    return lookup_of<BaselineCode, Probe>(params);
  }
};

}  // namespace keysieve
