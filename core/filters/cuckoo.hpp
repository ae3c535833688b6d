// Cuckoo filter: a fingerprint of each key in one of two buckets of four slots. Keys can be added and
// removed. Source: Fan, Andersen, Kaminsky, Mitzenmacher, "Cuckoo filter: practically better than Bloom"
// (2014). Differs from it in two ways: the number of buckets can be any, and a shard with more keys than its
// slots can take gets narrower fingerprints in more slots, so that no build loops or fails.
#pragma once

#include <cmath>

#include "core/filters/cuckoo/table.hpp"
#include "core/filters/expectation.hpp"
#include "core/filters/kind_of.hpp"

namespace keysieve {

struct Cuckoo {
  static constexpr std::uint8_t kId = 5;
  static constexpr std::string_view kName = "cuckoo";
  static constexpr std::string_view kSummary = "fingerprints in buckets of four: keys can be removed";

  // Bits of a fingerprint, in shards whose keys leave room for that many.
  static std::span<const std::uint8_t> hash_counts() noexcept { return kHashCountsFrom<4, cuckoo::kWidest>; }

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

  static bool add(MutableBytes shard, const ShardEntry& entry, const FilterParams& params,
                  KeyHash hash) noexcept {
    if (entry.width == 0) return true;
    const cuckoo::Table table(params.shard_bytes, entry.width);
    return table.insert(shard.data(), table.place_of(remix(hash, entry.seed)));
  }

  static bool remove(MutableBytes shard, const ShardEntry& entry, const FilterParams& params,
                     KeyHash hash) noexcept {
    if (entry.width == 0) return true;
    const cuckoo::Table table(params.shard_bytes, entry.width);
    return table.erase(shard.data(), table.place_of(remix(hash, entry.seed)));
  }

  static const char* fault_of(const FilterParams& params, const ShardEntry& entry) noexcept {
    if (entry.width > params.hash_count) return "its fingerprints are wider than the set's";
    if (entry.width != 0 && entry.width < cuckoo::kNarrowest) return "its fingerprints are too narrow";
    return entry.block_count == 0 && entry.shape == 0 ? nullptr : "its kind has no block count or shape";
  }

  static std::uint32_t cache_lines(const FilterParams& /*params*/, double /*keys_per_shard*/) noexcept {
    return 2;
  }

  static double theoretical_fpr(const FilterParams& params, double keys_per_shard) {
    return poisson_mean(keys_per_shard,
                        [&](double keys) { return fpr_of(params, widest_for(params, keys), keys); });
  }

  static double capacity(const FilterParams& params) noexcept {
    return kFullestLoad * cuckoo::Table(params.shard_bytes, params.hash_count).slots();
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

  static double estimated_fpr(Bytes shard, const ShardEntry& entry, const FilterParams& params) {
    return entry.key_count == 0 ? 0.0 : fpr_at(entry.width, fill_ratio(shard, entry, params));
  }

  // Prefetches nothing of the shard: without a branch between the buckets the processor overlaps the lookups
  // of a batch on its own, and prefetching one bucket or both took twice the time (512 MB,
  // tools/workshop/bench/run lookup).
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
    if (instructions == InstructionSet::Avx2) return lookup_of<Avx2Functions, Probe>(params);
#endif
    static_cast<void>(instructions);
    return lookup_of<BaselineFunctions, Probe>(params);
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
    const cuckoo::Table table(static_cast<std::uint32_t>(shard.size()), entry.width);
    return std::all_of(keys.begin(), keys.end(), [&](const KeyHash& key) {
      return table.insert(shard.data(), table.place_of(remix(key, entry.seed)));
    });
  }
};

}  // namespace keysieve
