// Builds one ribbon shard. Tries seeds until the rows of all columns fit, adds slots when none of them works,
// and gives the remaining room to the last column. Never fails: at worst only the last column is left, and
// nearly all keys are exempt from it.
#pragma once

#include <algorithm>
#include <vector>

#include "core/filters/ribbon/exemption.hpp"
#include "core/filters/ribbon/forecast.hpp"
#include "core/filters/ribbon/layout.hpp"
#include "core/filters/ribbon/system.hpp"

namespace keysieve::ribbon {

class ShardBuilder {
 public:
  ShardBuilder(MutableBytes shard, ShardEntry& entry, std::span<const KeyHash> keys)
      : shard_(shard), entry_(entry), keys_(keys) {}

  void build() {
    entry_ = {.key_count = static_cast<std::uint16_t>(keys_.size()),
              .block_count = static_cast<std::uint16_t>(kFewestBlocks)};
    if (keys_.empty()) return;
    std::uint32_t blocks = first_blocks_for(keys_.size());
    while (!fill_blocks(blocks) || !fill_last_column()) {
      std::fill(shard_.begin(), shard_.end(), std::byte{0});
      blocks += 1 + blocks / kBlocksPerStep;
    }
  }

  // The number of blocks a build begins with, and mostly ends with.
  static std::uint32_t first_blocks_for(std::uint64_t keys) noexcept {
    const std::uint64_t slots = std::max<std::uint64_t>(keys + spare_slots_for(keys), kWindow);
    return static_cast<std::uint32_t>(slots / kBlockSlots + 1);  // one slot more than `slots`
  }

 private:
  // Random rows that fill all slots are independent with probability 0.29; each spare slot halves the chance
  // of failure. In large shards the random walk outgrows a window of 64 in spite of the levels: measured,
  // shards of 9,700 keys need 20 slots more, of 20,000 keys 290.
  static std::uint64_t spare_slots_for(std::uint64_t keys) noexcept {
    constexpr std::uint64_t kForgiven = 6000;
    if (keys <= kForgiven) return 2;
    return 2 + (keys - kForgiven) * (keys - kForgiven) / 500'000;
  }
  // For each number of slots: at most this many forecasts, and this many eliminations with a good forecast.
  static constexpr std::uint32_t kForecasts = 16;
  static constexpr std::uint32_t kEliminations = 4;
  static constexpr std::uint32_t kBlocksPerStep = 256;
  static constexpr std::int32_t kHopelessPressure = kWindow * 27 / 32;

  using Equation = System::Equation;

  bool fill_blocks(std::uint32_t blocks) {
    const auto words = static_cast<std::uint32_t>(shard_.size() / kWordBytes);
    const std::uint32_t columns = std::min(words / blocks, kMostColumns);
    entry_.width = static_cast<std::uint8_t>(columns);
    if (columns == 0) {
      entry_.block_count = static_cast<std::uint16_t>(kFewestBlocks);
      entry_.shape = 0;
      hash_all(static_cast<std::uint8_t>(blocks));
      return true;
    }
    entry_.block_count = static_cast<std::uint16_t>(blocks);
    const std::uint32_t slots = slots_in(blocks);
    std::uint32_t eliminations = 0;
    for (std::uint32_t seed = 0; seed < kForecasts && eliminations < kEliminations; ++seed) {
      hash_all(static_cast<std::uint8_t>(seed));
      const Forecast forecast = counts_of(hashes_).forecast(slots);
      if (forecast.pressure >= kHopelessPressure) continue;
      ++eliminations;
      entry_.shape = forecast.levels;
      if (system_.eliminate(equations(hashes_, Line(slots, forecast.levels), 0, columns), slots)) {
        write_blocks(columns);
        return true;
      }
    }
    return false;
  }

  void hash_all(std::uint8_t seed) {
    entry_.seed = seed;
    hashes_.clear();
    for (const KeyHash& key : keys_) hashes_.emplace_back(key, seed);
  }

  static PositionCounts counts_of(std::span<const RowHash> hashes) noexcept {
    PositionCounts counts;
    for (const RowHash& hash : hashes) counts.add(hash.position());
    return counts;
  }

  // Ordered by their start; the value consists of `columns` bits of the fingerprint, from `first_column` on.
  std::span<const Equation> equations(std::span<const RowHash> hashes, const Line& line, int first_column,
                                      std::uint32_t columns) {
    std::vector<std::uint32_t>& ends = ends_;
    ends.assign(line.slots() + 1, 0);
    for (const RowHash& hash : hashes) ++ends[line.start_of(hash.position()) + 1];
    for (std::size_t slot = 1; slot < ends.size(); ++slot) ends[slot] += ends[slot - 1];
    equations_.resize(hashes.size());
    const std::uint32_t mask = (std::uint32_t{1} << columns) - 1;
    for (const RowHash& hash : hashes) {
      const std::uint32_t start = line.start_of(hash.position());
      const std::uint32_t value = hash.fingerprint() >> first_column & mask;
      equations_[ends[start]++] = {hash.row(), start, value};
    }
    return equations_;
  }

  void write_blocks(std::uint32_t columns) {
    system_.solve(columns, kBlockSlots, [&](std::uint32_t slot, auto solution) {
      std::byte* block = shard_.data() + bytes_of_words(slot / kBlockSlots * columns);
      for (std::size_t column = 0; column < solution.size(); ++column) {
        store(block + column * kWordBytes, static_cast<std::uint32_t>(solution[column]));
      }
    });
  }

  bool fill_last_column() {
    const Layout layout = Layout::of(static_cast<std::uint32_t>(shard_.size()), entry_);
    if (layout.last_slots == 0) return true;
    std::uint32_t share = share_for(keys_.size(), layout.seeds, layout.last_slots);
    choose_seeds(layout, share);
    for (; share < kWholeShare; ++share) {
      hold_back(layout, share);
      if (held_.size() > layout.last_slots) continue;
      const Forecast forecast = counts_of(held_).forecast(layout.last_slots);
      const Line line(layout.last_slots, forecast.levels);
      if (!system_.eliminate(equations(held_, line, RowHash::kLastColumnBit, 1), layout.last_slots)) continue;
      system_.solve(1, 8, [&](std::uint32_t slot, auto solution) {
        shard_[layout.tail_offset + slot / 8] = static_cast<std::byte>(solution[0] & 0xff);
      });
      store(shard_.data() + layout.levels_offset(), forecast.levels);
      store(shard_.data() + layout.share_offset(), static_cast<std::uint8_t>(share));
      return true;
    }
    return false;
  }

  void choose_seeds(const Layout& layout, std::uint32_t share) {
    std::vector<std::vector<std::uint16_t>> groups(layout.seeds);
    for (const RowHash& hash : hashes_) {
      if (layout.seeds != 0) groups[layout.group_of(hash.position())].push_back(hash.exemption());
    }
    for (std::uint32_t group = 0; group < layout.seeds; ++group) {
      store(shard_.data() + layout.seeds_offset() + group, best_seed(groups[group], share));
    }
  }

  void hold_back(const Layout& layout, std::uint32_t share) {
    held_.clear();
    for (const RowHash& hash : hashes_) {
      if (!is_exempt(hash.exemption(), layout.seed_of(shard_.data(), hash.position()), share))
        held_.push_back(hash);
    }
  }

  MutableBytes shard_;
  ShardEntry& entry_;
  std::span<const KeyHash> keys_;
  std::vector<RowHash> hashes_;
  std::vector<RowHash> held_;  // keys that the last column holds: not exempt
  std::vector<std::uint32_t> ends_;
  std::vector<Equation> equations_;
  System system_;
};

}  // namespace keysieve::ribbon
