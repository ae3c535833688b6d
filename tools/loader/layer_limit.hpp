// How much false-positive rate the live layer of a set may add to that of its snapshot. Beyond it the loader
// publishes the snapshot again with a larger layer.
#pragma once

#include <algorithm>
#include <optional>

#include "core/filters/sizing.hpp"

namespace keysieve {

// A layer of less than this share costs little memory to have: 10.5 bits per key.
inline constexpr double kLargestLayerFpr = 0.01;
inline constexpr double kLayerShareOfTarget = 0.25;

// What `max_fpr` leaves, so that both together stay within it, down to the least FPR that a layer can be
// sized for; without a limit a quarter of the snapshot's target.
inline double layer_fpr_limit(std::optional<double> max_fpr, double target_fpr, double estimated_fpr) {
  const double share = max_fpr ? *max_fpr - estimated_fpr : target_fpr * kLayerShareOfTarget;
  return std::clamp(share, kMinFpr, kLargestLayerFpr);
}

}  // namespace keysieve
