// Builds one ribbon shard. Tries seeds until the rows fit, and adds blocks when none of them works. Always
// ends: more blocks have fewer columns, at last none. Then every key of a set comes back as maybe; a map
// cannot be built.
#pragma once

#include <algorithm>
#include <vector>

#include "core/builder/filters/ribbon/forecast.hpp"
#include "core/builder/filters/ribbon/system.hpp"
#include "core/worker/filters/ribbon/layout.hpp"

namespace keysieve::ribbon {

class ShardBuilder {
 public:
  // `values` of the keys; empty in a set that is no map.
  ShardBuilder(MutableBytes shard, ShardEntry& entry, const FilterParams& params,
               std::span<const KeyHash> keys, std::span<const std::uint32_t> values = {})
      : shard_(shard), entry_(entry), params_(params), key_values_(values) {
    hashes_.reserve(keys.size());
    for (const KeyHash& key : keys) {
      hashes_.emplace_back(key);
      counts_.add(hashes_.back().bin());
    }
  }

  void build() {
    entry_ = {.key_count = static_cast<std::uint16_t>(hashes_.size()),
              .block_count = static_cast<std::uint16_t>(kFewestBlocks)};
    if (hashes_.empty()) return;
    std::uint32_t blocks = first_blocks_for(hashes_.size());
    for (std::uint32_t step = 1 + blocks / 256; !fill(blocks); step += 1 + step / 8) blocks += step;
  }

  // The number of blocks a build begins with, and mostly ends with.
  static std::uint32_t first_blocks_for(std::uint64_t keys) noexcept {
    const std::uint64_t slots = std::max<std::uint64_t>(keys + spare_slots_for(keys), kWindow);
    return static_cast<std::uint32_t>((slots + kBlockSlots - 1) / kBlockSlots);
  }

  // How many keys a build begins with that many blocks for. A build may need some more blocks.
  static std::uint32_t most_keys_in(std::uint32_t blocks) noexcept {
    std::uint32_t keys = 0;
    for (std::uint32_t step = 1U << 17; step != 0; step /= 2) {
      if (first_blocks_for(keys + step) + 1 + blocks / 64 <= blocks) keys += step;
    }
    return keys;
  }

 private:
  // Random rows that fill all slots are independent with probability 0.29; each spare slot halves the chance
  // of failure. In large shards the random walk outgrows a window of 64 in spite of the levels: measured,
  // shards of 9,700 keys need 80 slots more.
  static std::uint64_t spare_slots_for(std::uint64_t keys) noexcept {
    constexpr std::uint64_t kForgiven = 4000;
    if (keys <= kForgiven) return 2;
    return 2 + (keys - kForgiven) * (keys - kForgiven) / 400'000;
  }
  // For each number of blocks: at most this many forecasts, and this many eliminations with a good forecast.
  static constexpr std::uint32_t kForecasts = 16;
  static constexpr std::uint32_t kEliminations = 4;
  static constexpr std::int32_t kHopelessPressure = kWindow * 3 / 4;

  bool fill(std::uint32_t blocks) {
    const Layout layout = Layout::of(params_, blocks);
    entry_ = {.key_count = entry_.key_count, .block_count = static_cast<std::uint16_t>(kFewestBlocks)};
    if (layout.columns == 0 || layout.columns < params_.value_bits) return true;
    entry_.width = static_cast<std::uint8_t>(layout.columns);
    entry_.block_count = static_cast<std::uint16_t>(blocks);
    std::uint32_t eliminations = 0;
    const std::array<std::uint8_t, kSeeds> seeds = seeds_by_short_keys(layout);
    for (std::uint32_t i = 0; i < kForecasts && eliminations < kEliminations; ++i) {
      const Forecast forecast = Forecaster(counts_, seeds[i]).forecast(blocks);
      if (forecast.pressure >= kHopelessPressure) continue;
      ++eliminations;
      entry_.seed = seeds[i];
      entry_.shape = forecast.levels;
      if (system_.eliminate(equations(layout), blocks * kBlockSlots, layout.short_starts() * kBlockSlots)) {
        write_blocks(layout);
        return true;
      }
    }
    return false;
  }

  // Seeds with the fewest keys in the short column come first: its slots then cover more positions than keys,
  // so more absent keys are compared by it.
  std::array<std::uint8_t, kSeeds> seeds_by_short_keys(const Layout& layout) const {
    const std::uint32_t bins = layout.short_starts() * kBins / layout.blocks;
    std::array<std::uint32_t, kSeeds> ranks;
    for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
      std::uint32_t before = 0;
      counts_.for_first(bins, seed, [&](std::uint32_t keys) { before += keys; });
      ranks[seed] = before * kSeeds + seed;
    }
    std::sort(ranks.begin(), ranks.end());
    std::array<std::uint8_t, kSeeds> seeds;
    std::transform(ranks.begin(), ranks.end(), seeds.begin(),
                   [](std::uint32_t rank) { return static_cast<std::uint8_t>(rank % kSeeds); });
    return seeds;
  }

  // Ordered by their start.
  std::span<const Equation> equations(const Layout& layout) {
    const Line line(layout.blocks, entry_.shape);
    ends_.assign(layout.blocks + 1, 0);
    starts_.clear();
    for (const RowHash& hash : hashes_) {
      starts_.push_back(line.block_of(hash.position(entry_.seed)));
      ++ends_[starts_.back() + 1];
    }
    for (std::size_t block = 1; block < ends_.size(); ++block) ends_[block] += ends_[block - 1];
    equations_.resize(hashes_.size());
    const std::uint32_t compared = layout.columns - params_.value_bits;
    const std::uint64_t mask = (std::uint64_t{1} << compared) - 1;
    for (std::size_t i = 0; i < hashes_.size(); ++i) {
      const std::uint64_t fingerprint = hashes_[i].fingerprint();
      const std::uint64_t value = key_values_.empty() ? 0 : key_values_[i];
      const std::uint64_t short_bit = fingerprint >> compared & 1;
      equations_[ends_[starts_[i]]++] = {
          hashes_[i].row(), starts_[i] * kBlockSlots,
          (fingerprint & mask) | value << compared | short_bit << layout.columns};
    }
    return equations_;
  }

  void write_blocks(const Layout& layout) {
    std::byte* const short_column = shard_.data() + std::size_t{layout.blocks} * layout.columns;
    system_.solve(layout.columns, [&](std::uint32_t slot, auto solution) {
      const std::uint32_t block = slot / kBlockSlots;
      std::byte* bytes = shard_.data() + std::size_t{block} * layout.columns;
      for (std::uint32_t column = 0; column < layout.columns; ++column) {
        bytes[column] = static_cast<std::byte>(solution[column] & 0xff);
      }
      if (block < layout.short_blocks)
        short_column[block] = static_cast<std::byte>(solution[layout.columns] & 0xff);
    });
  }

  MutableBytes shard_;
  ShardEntry& entry_;
  FilterParams params_;
  std::span<const std::uint32_t> key_values_;
  BinCounts counts_;
  std::vector<RowHash> hashes_;
  std::vector<std::uint32_t> starts_;
  std::vector<std::uint32_t> ends_;
  std::vector<Equation> equations_;
  System system_;
};

}  // namespace keysieve::ribbon
