// Contours of the FPR over keys per shard and k, for one kind and shard size: which k serves which load.
#pragma once

#include "core/filters/sizing.hpp"
#include "tools/plot/svg.hpp"

namespace keysieve {

// Draws into `box`, whose axes' names stand outside of it. `planned` is marked as it is with `keys` keys.
void draw_contours(Svg& svg, const Box& box, const Geometry& planned, double keys, double target_fpr);

}  // namespace keysieve
