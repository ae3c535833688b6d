// Chooses the levels of a shard and predicts whether its rows will fit, just by counting positions. This is
// much cheaper than elimination, so seeds that cannot work are skipped. In integers, so that every machine
// builds the same bytes.
#pragma once

#include <array>
#include <span>

#include "core/worker/filters/ribbon/row.hpp"

namespace keysieve::ribbon {

struct Forecast {
  std::uint16_t levels;
  // The most by which rows are ahead of slots at any place, scaled so that a window tolerates up to its
  // width. Measured at 3,200 to 4,850 keys: nearly all builds succeed below 36, half do at 44, none above 60.
  std::int32_t pressure;
};

// How many keys are in each bin.
class BinCounts {
 public:
  void add(std::uint32_t bin) noexcept { ++counts_[bin]; }

  // Calls visit(keys of the bin) for the first `bins` bins of the order that a seed makes.
  template <typename Visit>
  void for_first(std::uint32_t bins, std::uint32_t seed, Visit visit) const {
    // The seed multiplies bins by an odd number, so its order takes steps of the inverse.
    const std::uint32_t step = inverse_of(2 * seed + 1);
    for (std::uint32_t i = 0, bin = 0; i < bins; ++i, bin += step) visit(counts_[bin % kBins]);
  }

 private:
  // Modulo kBins, by Newton's method: three bits are right at first, and each step doubles them.
  static std::uint32_t inverse_of(std::uint32_t odd) noexcept {
    std::uint32_t inverse = odd;
    for (int step = 0; step < 2; ++step) inverse *= 2 - odd * inverse;
    return inverse;
  }

  std::array<std::uint32_t, kBins> counts_{};
};

class Forecaster {
 public:
  Forecaster(const BinCounts& counts, std::uint32_t seed) noexcept {
    std::size_t bin = 0;
    counts.for_first(kBins, seed, [&](std::uint32_t keys) {
      up_to_[bin + 1] = up_to_[bin] + static_cast<std::int32_t>(keys);
      ++bin;
    });
  }

  [[nodiscard]] Forecast forecast(std::uint32_t blocks) const noexcept {
    Levels levels = quantiles(blocks);
    std::int32_t best = pressure(blocks, levels);
    if (blocks >= kFewestToLevel) {
      for (bool better = true; better;) {
        better = false;
        for (std::int32_t& level : levels) {
          for (const std::int32_t move : {-1, 1}) better |= improve(blocks, levels, level, move, best);
        }
      }
    }
    return {packed(levels), (best + kScale - 1) / kScale};
  }

 private:
  static constexpr std::int32_t kScale = kBins / 4;  // bins of a quarter
  // With fewer, the walk is short, and levels could meet.
  static constexpr std::uint32_t kFewestToLevel = 128;

  using Levels = std::array<std::int32_t, kLevelCount>;  // steps behind the even place

  template <typename Number>
  static constexpr std::size_t bin_of(Number quarter) noexcept {
    return static_cast<std::size_t>(quarter) * kScale;
  }

  static std::uint16_t packed(const Levels& levels) noexcept {
    std::int32_t bits = 0;
    for (int i = 0; i < kLevelCount; ++i)
      bits |= (levels[static_cast<std::size_t>(i)] + kEvenLevel) << i * kLevelBits;
    return static_cast<std::uint16_t>(bits);
  }

  [[nodiscard]] Levels quantiles(std::uint32_t blocks) const noexcept {
    Levels levels{};
    const std::int64_t keys = up_to_.back();
    if (blocks < kFewestToLevel || keys == 0) return levels;
    for (std::int32_t i = 0; i < kLevelCount; ++i) {
      const std::int64_t wanted = std::int64_t{up_to_[bin_of(i + 1)]} * 4 * blocks / keys;
      const std::int64_t steps = (wanted - std::int64_t{blocks} * (i + 1)) / 4;
      levels[static_cast<std::size_t>(i)] =
          static_cast<std::int32_t>(std::clamp<std::int64_t>(steps, -kMostSteps, kMostSteps));
    }
    return levels;
  }

  // Rows ahead of slots, in units of 1 / kScale: from any place to any later one. Counted twice at the front
  // and at the back, where only half a window tolerates them.
  [[nodiscard]] std::int32_t pressure(std::uint32_t blocks, const Levels& levels) const noexcept {
    const Line line(blocks, packed(levels));
    std::int32_t highest = 0;
    std::int32_t lowest = 0;
    std::int32_t steepest = 0;
    for (std::uint32_t quarter = 0; quarter < 4; ++quarter) {
      const std::int32_t length = (line.level(quarter + 1) - line.level(quarter)) * (kBlockSlots / 4);
      std::int32_t place = line.level(quarter) * (kBlockSlots / 4) * kScale;
      for (std::size_t bin = bin_of(quarter); bin < bin_of(quarter + 1); ++bin) {
        const std::int32_t ahead = up_to_[bin] * kScale - place;
        highest = std::max(highest, ahead);
        lowest = std::min(lowest, ahead);
        steepest = std::max(steepest, ahead - lowest);
        place += length;
      }
    }
    const std::int32_t slack = (static_cast<std::int32_t>(blocks * kBlockSlots) - up_to_.back()) * kScale;
    return std::max({2 * highest, -2 * (lowest + slack), steepest});
  }

  bool improve(std::uint32_t blocks, const Levels& levels, std::int32_t& level, std::int32_t move,
               std::int32_t& best) const noexcept {
    const std::int32_t before = level;
    level = std::clamp(before + move, -kMostSteps, kMostSteps);
    const std::int32_t found = pressure(blocks, levels);
    if (found < best) {
      best = found;
      return true;
    }
    level = before;
    return false;
  }

  std::array<std::int32_t, kBins + 1> up_to_{};  // keys before each bin, and in all
};

}  // namespace keysieve::ribbon
