// How large a filter must be, how many keys it holds, and how often it is wrong. Used by the loader; PHP
// reads the results.
#pragma once

#include "core/seen/seen_filter.hpp"

namespace keysieve {

// Above this a set asks for more than words of 128 bits are good for: 1e-8 needs 196 bits per key, 1e-9 needs
// 322.
inline constexpr double kMaxBitsPerSeenKey = 256;

// Returns the share of absent keys that a filter contains. `keys_per_word`: the average; `key_bits`: how many
// bits a key sets. The number of keys of a word is Poisson-distributed, and b of its bits are set; the result
// is the mean of (b / 128)^key_bits. Source: Putze, Sanders, Singler, "Cache-, hash-, and space-efficient
// Bloom filters" (2009), for blocks of one word.
double seen_rate(std::uint64_t key_bits, double keys_per_word);

struct SeenSize {
  std::uint64_t words = 0;     // whole shards, at most kMaxSeenWords
  std::uint64_t key_bits = 0;  // 1 to kMaxKeyBits

  // Whether seen_size() can return this.
  [[nodiscard]] bool is_possible() const noexcept {
    return words != 0 && words % kWordsPerSeenShard == 0 && words <= kMaxSeenWords && key_bits >= 1 &&
           key_bits <= kMaxKeyBits;
  }
  [[nodiscard]] std::uint64_t shards() const noexcept { return words / kWordsPerSeenShard; }

  friend bool operator==(const SeenSize&, const SeenSize&) = default;
};

// The smallest filter that contains at most that share of absent keys when it holds so many keys. Takes
// milliseconds. Throws Usage if a key would take more than kMaxBitsPerSeenKey.
SeenSize seen_size(std::uint64_t keys, double rate);

struct SeenFill {
  double keys = 0;  // estimated from the bits
  double rate = 0;  // share of absent keys that it contains: the mean of (b / 128)^key_bits over the words
};

// Looks at a filter that workers are writing to: at no more than `max_shards` shards, spread over it. With
// 256 the number of keys is right to about 0.3 %.
SeenFill seen_fill(const SeenFilter& filter, std::uint64_t max_shards = 256);

}  // namespace keysieve
