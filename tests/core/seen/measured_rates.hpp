// Fills a window up to its capacity and beyond, with filters appended as the loader does, and asks for absent
// keys. For the suite, and in full size for the program that runs when it is named.
#pragma once

#include <cmath>
#include <vector>

#include "core/publisher/seen/seen_sizing.hpp"
#include "tests/core/seen/seen_sets.hpp"

namespace keysieve::test {

struct MeasuredRate {
  double fill = 0;  // share of the capacity
  std::size_t filters = 0;
  double theory = 0;    // for so many keys in these filters
  double measured = 0;  // share of absent keys that were seen
  double sigma = 0;     // standard deviation of what is measured
  double tags = 0;      // as the filters' tags tell it
  double keys = 0;      // likewise
};

inline SeenPlan first_plan(std::uint64_t capacity, double rate) {
  return {.window = {.begins = 1, .ends = 2, .kept_for = 1},
          .growth = 0,
          .capacity = capacity,
          .rate = rate / 2,
          .size = seen_size(capacity, rate / 2)};
}

// At half the capacity, at all of it, and at one and a half. The writer must have a page without filters.
inline std::vector<MeasuredRate> measure_rates(SeenWriter& writer, SeenReader& reader, std::uint64_t capacity,
                                               double rate, std::uint64_t absent_keys) {
  std::vector<MeasuredRate> rates;
  std::uint64_t added = 0;
  for (const double fill : {0.5, 1.0, 1.5}) {
    const auto keys = static_cast<std::uint64_t>(fill * static_cast<double>(capacity));
    MeasuredRate result{.fill = fill};
    for (; added < keys; ++added) {
      if (added == 0) writer.append(first_plan(capacity, rate), 0);
      if (added == capacity) writer.append(grown(writer.filters().back().plan), 0);
      static_cast<void>(is_new(reader, numbered_hash(added)));
    }
    double absent_from_all = 1;
    double surely_absent = 1;
    for (const OpenFilter& one : writer.filters()) {
      const SeenFilter& filter = one.filter;
      const std::uint64_t keys_of_filter = std::min(capacity, keys - result.filters * capacity);
      absent_from_all *= 1 - seen_rate(filter.block_words(), static_cast<double>(keys_of_filter) /
                                                                 static_cast<double>(filter.words().size()));
      const SeenFill fill_now = seen_fill(filter);
      surely_absent *= 1 - fill_now.rate;
      result.keys += fill_now.keys;
      ++result.filters;
    }
    result.theory = 1 - absent_from_all;
    result.tags = 1 - surely_absent;
    std::uint64_t seen = 0;
    for (std::uint64_t i = 0; i < absent_keys; ++i) {
      seen += was_seen(reader, numbered_hash((std::uint64_t{1} << 60) + i)) ? 1U : 0U;
    }
    const auto asked = static_cast<double>(absent_keys);
    result.measured = static_cast<double>(seen) / asked;
    result.sigma = std::sqrt(result.theory * (1 - result.theory) / asked);
    rates.push_back(result);
  }
  return rates;
}

}  // namespace keysieve::test
