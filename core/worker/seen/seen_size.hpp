// The size of a filter, how many keys it holds, and how often it is wrong.
#pragma once

#include <bit>

#include "core/worker/seen/seen_filter.hpp"

namespace keysieve {

// Returns the share of absent keys that one word contains.
inline double rate_of(const WordValue& value) noexcept {
  return static_cast<double>(value.tags()) / static_cast<double>(std::uint64_t{1} << tag_bits(value.tags()));
}

struct SeenSize {
  std::uint64_t words = 0;        // whole shards, at most kMaxSeenWords
  std::uint64_t block_words = 0;  // as SeenFilter's

  // Whether seen_size() can return this.
  [[nodiscard]] bool is_possible() const noexcept {
    return words != 0 && words % kWordsPerSeenShard == 0 && words <= kMaxSeenWords &&
           std::has_single_bit(block_words) && block_words >= kLeastBlockWords &&
           block_words <= kMostBlockWords;
  }

  friend bool operator==(const SeenSize&, const SeenSize&) = default;
};

struct SeenFill {
  double keys = 0;  // tags, which are as many but for those that were taken over short
  double rate = 0;  // share of absent keys that it contains
};

// Looks at a filter that workers are writing to: at no more than `max_shards` shards, spread over it. With
// 256 the number of keys is right to about 0.3 %.
SeenFill seen_fill(const SeenFilter& filter, std::uint64_t max_shards = 256);

}  // namespace keysieve
