// Ribbon filter: each key is a linear equation over a short window of slots, and the slots are the solution.
// Smallest of all kinds; keys cannot be added. Source: Dillinger, Walzer, "Ribbon filter: practically smaller
// than Bloom and Xor" (2021). Two additions bring it within 2 % of the bound in shards of 4 KiB: levels
// (ribbon/row.hpp) and exemption from the last column (ribbon/exemption.hpp).
#pragma once

#include "core/filters/expectation.hpp"
#include "core/filters/kind_of.hpp"
#include "core/filters/ribbon/builder.hpp"
#include "core/filters/ribbon/kernels.hpp"
#include "core/filters/ribbon/probe.hpp"

namespace keysieve {

struct Ribbon {
  static constexpr std::uint8_t kId = 8;
  static constexpr std::string_view kName = "ribbon";
  static constexpr std::string_view kSummary = "solved linear equations: smallest, a little over the bound";

  // Number of slots that one lookup combines.
  static std::span<const std::uint8_t> hash_counts() noexcept { return kHashCounts<ribbon::kWindow>; }

  static void build(MutableBytes shard, ShardEntry& entry, const FilterParams& /*params*/,
                    std::span<const KeyHash> keys) {
    ribbon::ShardBuilder(shard, entry, keys).build();
  }

  static const char* fault_of(const FilterParams& params, const ShardEntry& entry) noexcept {
    using namespace ribbon;
    if (entry.shape > kHighestLevels) return "its levels have more bits than there are";
    if (entry.width > kMostColumns) return "it has more columns than a ribbon can have";
    if (entry.block_count < kFewestBlocks) return "a window is longer than its slots";
    if (entry.width == 0 && entry.block_count > kFewestBlocks) return "it has blocks without columns";
    const std::uint32_t bytes = std::uint32_t{entry.block_count} * entry.width * kWordBytes;
    return bytes <= params.shard_bytes ? nullptr : "its slots reach beyond the shard";
  }

  // Counts those of the blocks: only keys that pass all of them are looked up in the last column.
  static std::uint32_t cache_lines(const FilterParams& params, double keys_per_shard) noexcept {
    using namespace ribbon;
    const std::uint32_t words = (kWindow / kBlockSlots + 1) * columns_for(params, keys_per_shard);
    return 1 +
           static_cast<std::uint32_t>(std::lround(words * kWordBytes / static_cast<double>(kCacheLineBytes)));
  }

  static double theoretical_fpr(const FilterParams& params, double keys_per_shard) {
    return poisson_mean(keys_per_shard, [&](double keys) { return expected_fpr(params, keys); });
  }

  static double estimated_fpr(Bytes shard, const ShardEntry& entry, const FilterParams& params) {
    if (entry.key_count == 0) return 0.0;
    const auto layout = ribbon::Layout::of(params.shard_bytes, entry);
    if (layout.last_slots == 0) return std::ldexp(1.0, -int{entry.width});
    return fpr_of(entry.width, load<std::uint8_t>(shard.data() + layout.share_offset()));
  }

  static Lookup lookup(const FilterParams& /*params*/, InstructionSet instructions) noexcept {
    using namespace ribbon;
#if KEYSIEVE_X86_64
    if (instructions == InstructionSet::Avx2) return lookup_of<Avx2Functions<Probe<Avx2Kernel>>>();
#endif
    static_cast<void>(instructions);
    return lookup_of<BaselineFunctions<Probe<ScalarKernel>>>();
  }

 private:
  static double fpr_of(int columns, double share) {
    return std::ldexp((1.0 + share / ribbon::kWholeShare) / 2.0, -columns);
  }

  // Blocks of a shard whose keys are built at the first try.
  static std::uint32_t blocks_for(double keys) noexcept {
    return ribbon::ShardBuilder::first_blocks_for(static_cast<std::uint64_t>(keys));
  }
  static std::uint32_t columns_for(const FilterParams& params, double keys) noexcept {
    return std::min(params.shard_bytes / ribbon::kWordBytes / blocks_for(keys), ribbon::kMostColumns);
  }

  static double expected_fpr(const FilterParams& params, double keys) {
    using namespace ribbon;
    if (keys == 0.0) return 0.0;
    const std::uint32_t blocks = blocks_for(keys);
    const std::uint32_t columns = columns_for(params, keys);
    const ShardEntry entry{.key_count = static_cast<std::uint16_t>(std::min<double>(keys, kMaxKeysPerShard)),
                           .width = static_cast<std::uint8_t>(columns),
                           .block_count = static_cast<std::uint16_t>(blocks)};
    const Layout layout = Layout::of(params.shard_bytes, entry);
    if (layout.last_slots == 0) return std::ldexp(1.0, -static_cast<int>(columns));
    const std::uint32_t share = share_for(static_cast<std::uint64_t>(keys), layout.seeds, layout.last_slots);
    return fpr_of(static_cast<int>(columns), share);
  }
};

}  // namespace keysieve
