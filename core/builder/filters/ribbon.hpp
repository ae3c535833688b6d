// What builds ribbon filters.
#pragma once

#include "core/builder/filters/expectation.hpp"
#include "core/builder/filters/filter_kind.hpp"
#include "core/builder/filters/ribbon/shard_builder.hpp"
#include "core/worker/filters/ribbon.hpp"

namespace keysieve {

struct RibbonBuilder : Ribbon {
  static constexpr std::string_view kSummary = "solved linear equations: smallest, a little over the bound";
  static constexpr bool kIsUsual = true;
  static constexpr std::uint32_t kShardAlignment = kRetrievalUnit;

  static void build(MutableBytes shard, ShardEntry& entry, const FilterParams& params,
                    std::span<const KeyHash> keys) {
    ribbon::ShardBuilder(shard, entry, params, keys).build();
  }

  static bool build_map(MutableBytes shard, ShardEntry& entry, const FilterParams& params,
                        std::span<const KeyHash> keys, std::span<const std::uint32_t> values) {
    ribbon::ShardBuilder(shard, entry, params, keys, values).build();
    return keys.empty() || entry.width >= params.value_bits;
  }

  static double value_capacity(const FilterParams& params) noexcept {
    const std::uint32_t most_blocks =
        (params.shard_bytes - ribbon::tail_bytes(params)) / std::max<std::uint32_t>(params.value_bits, 1);
    return ribbon::ShardBuilder::most_keys_in(most_blocks);
  }

  static std::uint32_t cache_lines(const FilterParams& params, double keys_per_shard) noexcept {
    using namespace ribbon;
    const std::uint32_t bytes = kWindowBlocks * layout_for(params, keys_per_shard).columns;
    return 1 + static_cast<std::uint32_t>(std::lround(bytes / static_cast<double>(kCacheLineBytes)));
  }

  static double theoretical_fpr(const FilterParams& params, double keys_per_shard) {
    return poisson_mean(keys_per_shard, [&](double keys) { return expected_fpr(params, keys); });
  }

  static double estimated_fpr(Bytes /*shard*/, const ShardEntry& entry, const FilterParams& params) {
    using namespace ribbon;
    if (entry.key_count == 0) return 0.0;
    const Layout layout = Layout::of(params, entry);
    const Line line(layout.blocks, entry.shape);
    return fpr_of(layout.columns - params.value_bits, line.share_before(layout.short_starts()));
  }

 private:
  // `share` of the keys that are compared by the short column.
  static double fpr_of(std::uint32_t columns, double share) {
    return std::ldexp(1.0 - share / 2.0, -static_cast<int>(columns));
  }

  // The layout of a shard that the first number of blocks is enough for.
  static ribbon::Layout layout_for(const FilterParams& params, double keys) noexcept {
    using namespace ribbon;
    const auto most = static_cast<std::uint64_t>(std::fmin(keys, kMaxKeysPerShard));
    return Layout::of(params, ShardBuilder::first_blocks_for(most));
  }

  static double expected_fpr(const FilterParams& params, double keys) {
    using namespace ribbon;
    if (keys == 0.0) return 0.0;
    const Layout layout = layout_for(params, keys);
    if (layout.columns <= params.value_bits) return 1.0;
    const std::uint32_t compared = layout.columns - params.value_bits;
    if (layout.short_blocks == layout.blocks) return fpr_of(compared, 1.0);
    // Half a window more, because that many places lie before a window. The builder's choice among seeds is
    // worth 1.3 to 2.1 standard deviations at 1 % in shards of 8 to 1 KiB.
    const double share = std::fmin(1.0, (layout.short_starts() + kWindowBlocks / 2.0) / layout.blocks);
    const double gain = 1.5 * std::sqrt(share * (1.0 - share) / keys);
    return fpr_of(compared, std::fmin(1.0, share + gain));
  }
};

}  // namespace keysieve
