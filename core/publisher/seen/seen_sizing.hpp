// How large the filter of a seen set must be.
#pragma once

#include "core/worker/seen/seen_size.hpp"

namespace keysieve {

// Above this a set asks for more than tags are good for: 1e-12 needs 77 bits per key, 1e-14 needs 105. Keys
// with equal hashes come on top: one of 2^64 for each key that the filter holds.
inline constexpr double kMaxBitsPerSeenKey = 128;

// Returns the share of absent keys that a filter contains. `keys_per_word`: the average. The number of keys
// of a block is Poisson-distributed. Its words hold the same number of tags, or one more. The result is the
// mean of the sum of tags × 2^-bits over the words of a block.
double seen_rate(std::uint64_t block_words, double keys_per_word);

// A filter that contains at most that share of absent keys when it holds so many keys. Larger blocks need
// less memory, since they differ less in their keys, but a call reads more cache lines: each doubling must
// save 8 %. Takes milliseconds. Throws Usage if a key would take more than kMaxBitsPerSeenKey.
SeenSize seen_size(std::uint64_t keys, double rate);

// The next filter of the same window: twice as large and half as often wrong, so that all of a window keep
// twice the rate of the first. Throws Usage if that is out of reach. Source: Almeida, Baquero, Preguiça,
// Hutchison, "Scalable Bloom Filters" (2007), with r = 1/2 and s = 2.
inline SeenPlan grown(const SeenPlan& plan) {
  return {.window = plan.window,
          .growth = plan.growth + 1,
          .capacity = 2 * plan.capacity,
          .rate = plan.rate / 2,
          .size = seen_size(2 * plan.capacity, plan.rate / 2)};
}

}  // namespace keysieve
