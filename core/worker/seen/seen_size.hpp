// How large a filter must be, how many keys it holds, and how often it is wrong. Used by the loader; PHP
// reads the results.
#pragma once

#include <bit>

#include "core/worker/seen/seen_filter.hpp"

namespace keysieve {

// Above this a set asks for more than tags are good for: 1e-12 needs 77 bits per key, 1e-14 needs 105. Keys
// with equal hashes come on top: one of 2^64 for each key that the filter holds.
inline constexpr double kMaxBitsPerSeenKey = 128;

// Returns the share of absent keys that one word contains.
inline double rate_of(const WordValue& value) noexcept {
  return static_cast<double>(value.tags()) / static_cast<double>(std::uint64_t{1} << tag_bits(value.tags()));
}

// Returns the share of absent keys that a filter contains. `keys_per_word`: the average. The number of keys
// of a block is Poisson-distributed, and its words hold as many tags as each other, or one more; the result
// is the mean of the sum of tags × 2^-bits over the words of a block.
double seen_rate(std::uint64_t block_words, double keys_per_word);

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

// A filter that contains at most that share of absent keys when it holds so many keys. Larger blocks need
// less memory, since they differ less in their keys, but a call reads more cache lines: each doubling must
// save 8 %. Takes milliseconds. Throws Usage if a key would take more than kMaxBitsPerSeenKey.
SeenSize seen_size(std::uint64_t keys, double rate);

struct SeenFill {
  double keys = 0;  // tags, which are as many but for those that were taken over short
  double rate = 0;  // share of absent keys that it contains
};

// Looks at a filter that workers are writing to: at no more than `max_shards` shards, spread over it. With
// 256 the number of keys is right to about 0.3 %.
SeenFill seen_fill(const SeenFilter& filter, std::uint64_t max_shards = 256);

}  // namespace keysieve
