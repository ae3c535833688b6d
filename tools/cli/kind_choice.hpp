// What each filter kind would cost, and which `keysieve plan` recommends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/builder/filters/sizing.hpp"

namespace keysieve {

// What a kind would cost.
struct PlannedKind {
  Geometry geometry;
  double theoretical_fpr;
  std::uint64_t bytes;  // of the file
  double bits_per_key;  // of the file
  std::uint32_t cache_lines;

  [[nodiscard]] const FilterKind& kind() const noexcept { return *geometry.kind; }
};

struct Plan {
  std::vector<PlannedKind> kinds;  // the recommended one first
  std::string reason;              // part of a sentence: "the fastest that ..."
  // Kinds that cannot reach the target, and the lowest that they reach.
  std::vector<std::pair<std::string_view, double>> too_high;
};

// Recommends the smallest usual kind, or else the fastest of those that do not need far more memory than
// that. The others are in it if they are usual, or with `all`. Throws Usage for a value out of range.
Plan plan_kinds(const SizingRequest& request, bool all, bool smallest);

}  // namespace keysieve
