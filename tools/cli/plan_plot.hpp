// What `keysieve plan --plot` prints: data and commands for gnuplot 5, without a terminal, which the user
// chooses.
#pragma once

#include <string>
#include <string_view>

#include "core/builder/filters/sizing.hpp"

namespace keysieve {

struct RecommendedKind {
  std::string_view name;
  double fpr;
  double bits_per_key;
};

// Two plots, one above the other: bits per key of every kind, dashed where `is_usual` is false, with a dot
// for the recommended one; FPR contours of `bloom`, the kind in which k is free. Throws Usage for a value out
// of range.
std::string plan_plot(const SizingRequest& request, const RecommendedKind& recommended,
                      bool (*is_usual)(const FilterKind& kind));

}  // namespace keysieve
