// The size of a filter, how many keys it holds, how often it is wrong, and what the loader plans of it.
#pragma once

#include <bit>

#include "core/worker/base/clock.hpp"
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

struct SeenWindow {
  UnixSeconds begins = 0;     // when the loader has begun it
  UnixSeconds ends = 0;       // as planned: it ends when the next one begins. Differs between windows
  std::int64_t kept_for = 0;  // seconds after its end

  friend bool operator==(const SeenWindow&, const SeenWindow&) = default;
};

// A filter as the loader plans it. The page that workers read and the list in the store hold the same bytes,
// without gaps.
struct SeenPlan {
  SeenWindow window{};
  std::uint64_t growth = 0;    // 0: the first filter of its window, 1: the second, …
  std::uint64_t capacity = 0;  // keys
  double rate = 0;             // the highest share of absent keys that it contains while it holds no more
  SeenSize size{};             // what seen_size() says of these two, or what another host has

  [[nodiscard]] std::uint64_t bytes() const noexcept { return size.words * sizeof(Word); }
  // With what the loader keeps beside the words: for each of them a byte, how many of its tags the store has.
  [[nodiscard]] std::uint64_t segment_bytes() const noexcept { return bytes() + size.words; }
  friend bool operator==(const SeenPlan&, const SeenPlan&) = default;
};
static_assert(sizeof(SeenPlan) == 64);

// A window that gets more keys than planned has so many filters at most, of 1, 2, 4 and 8 times the keys.
inline constexpr std::uint64_t kFiltersPerWindow = 4;

}  // namespace keysieve
