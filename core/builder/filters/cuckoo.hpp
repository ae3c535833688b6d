// What builds cuckoo filters.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/builder/filters/cuckoo/changeable_table.hpp"
#include "core/builder/filters/expectation.hpp"
#include "core/builder/filters/kind_of.hpp"
#include "core/worker/filters/cuckoo.hpp"

namespace keysieve {

struct CuckooBuilder : Cuckoo {
  static constexpr std::string_view kSummary =
      "fingerprints in buckets of four: two cache lines, small at low FPRs";

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
