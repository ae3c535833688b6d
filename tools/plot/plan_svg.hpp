// The picture of `keysieve plan --svg`: two plots, one above the other, in one self-contained SVG file.
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

// Bits per key of every kind, dashed where `is_usual` is false, with a dot for the recommended one; below
// them, FPR contours of `bloom`, the kind in which k is free. Throws Usage for a value out of range.
std::string plan_svg(const SizingRequest& request, const RecommendedKind& recommended,
                     bool (*is_usual)(const FilterKind& kind));

}  // namespace keysieve
