// A filter as the loader plans it. The page that workers read and the list in the store hold the same bytes,
// without gaps.
#pragma once

#include "core/worker/base/clock.hpp"
#include "core/worker/seen/seen_size.hpp"

namespace keysieve {

struct SeenWindow {
  UnixSeconds begins = 0;     // when the loader has begun it
  UnixSeconds ends = 0;       // as planned: it ends when the next one begins. Differs between windows
  std::int64_t kept_for = 0;  // seconds after its end

  friend bool operator==(const SeenWindow&, const SeenWindow&) = default;
};

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
