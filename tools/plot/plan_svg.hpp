// The picture of `keysieve plan --svg`: two plots, one above the other, in one self-contained SVG file.
#pragma once

#include <string>

#include "core/filters/sizing.hpp"

namespace keysieve {

// FPR contours of `bloom`, the kind in which k is free, and bits per key of every kind, dashed where
// `is_usual` is false. Throws Usage for a value out of range.
std::string plan_svg(const SizingRequest& request, bool (*is_usual)(const FilterKind& kind));

}  // namespace keysieve
