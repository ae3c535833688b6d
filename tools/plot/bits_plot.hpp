// Bits per key against FPR for every kind, with the bound that no filter can pass: what a lower FPR costs.
#pragma once

#include "core/filters/sizing.hpp"
#include "tools/plot/svg.hpp"

namespace keysieve {

// Draws into `box`; the names of the kinds stand to the right of it. Kinds for which `is_usual` is false are
// dashed.
void draw_bits_per_key(Svg& svg, const Box& box, const SizingRequest& request,
                       bool (*is_usual)(const FilterKind& kind));

}  // namespace keysieve
