// The names of a plot's curves, to the right of it: each beside the end of its curve, as far as there is
// room.
#pragma once

#include <string>
#include <vector>

#include "tools/plot/frame.hpp"

namespace keysieve {

struct CurveName {
  std::string name;
  std::string style;  // of the curve
  Point end;          // pixels: where the curve ends or leaves the plot
};

void draw_names(Frame& frame, const std::vector<CurveName>& names);

// The style of the n-th curve of a plot: eight colours, then the same ones dashed.
std::string curve_style(std::size_t n);

}  // namespace keysieve
