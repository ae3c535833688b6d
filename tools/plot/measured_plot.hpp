// Plots of measurements: lines of points, or one bar for each of several things. Each is a self-contained SVG
// file. Numbers on a logarithmic scale must be above 0.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/plot/frame.hpp"

namespace keysieve {

struct MeasuredAxis {
  std::string title{};  // with the unit
  Scale scale = Scale::Linear;
};

struct LinePlot {
  struct Line {
    std::string name{};
    std::vector<Point> points{};  // at least one
  };

  std::string title{};
  std::string note{};
  MeasuredAxis x{};
  MeasuredAxis y{};
  std::vector<Line> lines{};  // at least one
};

struct BarPlot {
  struct Bar {
    std::string name{};
    double value = 0;
  };

  std::string title{};
  std::string note{};
  MeasuredAxis values{};
  std::vector<Bar> bars{};  // at least one, drawn from top to bottom
};

std::string line_plot_svg(const LinePlot& plot);

// Bars whose name begins with "keysieve" stand out.
std::string bar_plot_svg(const BarPlot& plot);

// The ends of an axis for these values: round numbers, and 0 if the scale is linear.
std::pair<double, double> ends_of(Scale scale, double lowest, double highest);

}  // namespace keysieve
