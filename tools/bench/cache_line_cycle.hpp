// The floor under every lookup: how long this machine takes to read one cache line of so much memory when
// the address depends on the line read before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "core/base/bytes.hpp"

namespace keysieve {

// All lines of an array in one cycle of random order.
class CacheLineCycle {
 public:
  explicit CacheLineCycle(std::uint64_t bytes) : lines_(bytes / kCacheLineBytes) {
    std::vector<std::uint32_t> order(lines_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(bytes));
    for (std::size_t i = 0; i < order.size(); ++i) lines_[order[i]].next = order[(i + 1) % order.size()];
  }

  std::uint32_t walk(std::uint32_t from, int steps) const noexcept {
    while (steps-- > 0) from = lines_[from].next;
    return from;
  }

 private:
  struct alignas(kCacheLineBytes) Line {
    std::uint32_t next;
  };
  std::vector<Line> lines_;
};

}  // namespace keysieve
