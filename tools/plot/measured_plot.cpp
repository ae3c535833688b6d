#include "tools/plot/measured_plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/plot/frame.hpp"

namespace keysieve {
namespace {

constexpr double kWidth = 960;
constexpr double kTop = 70;  // title and note above
constexpr double kBelow = 70;

// Returns the greatest number of the form 1, 2 or 5 times a power of ten that is not above the value.
double round_down(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double digit : {5.0, 2.0}) {
    if (digit * power <= value) return digit * power;
  }
  return power;
}

double round_up(double value) {
  const double below = round_down(value);
  if (below >= value) return below;
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double digit : {2.0, 5.0}) {
    if (digit * power >= value) return digit * power;
  }
  return 10.0 * power;
}

template <double Point::*Coordinate>
Axis axis_over(const LinePlot& plot, Scale scale, bool from_zero, double first_pixel, double last_pixel) {
  double lowest = plot.lines.front().points.front().*Coordinate;
  double highest = lowest;
  for (const LinePlot::Line& line : plot.lines) {
    for (const Point& point : line.points) {
      lowest = std::min(lowest, point.*Coordinate);
      highest = std::max(highest, point.*Coordinate);
    }
  }
  if (!from_zero && lowest < highest) return {scale, lowest, highest, first_pixel, last_pixel};
  const auto [first, last] = ends_of(scale, lowest, highest);
  return {scale, first, last, first_pixel, last_pixel};
}

std::string axis_title(const MeasuredAxis& axis) {
  return axis.title + (axis.scale == Scale::Log ? " (logarithmic)" : "");
}

void draw_lines(Frame& frame, const std::vector<LinePlot::Line>& lines) {
  std::vector<CurveName> names;
  for (const LinePlot::Line& line : lines) {
    const std::string style = curve_style(names.size());
    frame.curve(line.points, style);
    for (const Point& point : line.points) frame.svg().dot(frame.at(point), 2.5, "point " + style);
    names.push_back({line.name, style, frame.at(line.points.back())});
  }
  draw_names(frame, names);
}

}  // namespace

std::pair<double, double> ends_of(Scale scale, double lowest, double highest) {
  if (scale == Scale::Linear) return {std::min(0.0, lowest), highest > 0.0 ? round_up(highest) : 1.0};
  const double first = round_down(lowest);
  const double last = round_up(highest);
  return {first, first < last ? last : 2.0 * first};
}

std::string line_plot_svg(const LinePlot& plot) {
  constexpr Box kBox{90, kTop, 660, 440};  // names to the right
  Svg svg(kWidth, kBox.bottom + kBelow, plot.title);
  Frame frame(svg, kBox, axis_over<&Point::x>(plot, plot.x.scale, false, kBox.left, kBox.right),
              axis_over<&Point::y>(plot, plot.y.scale, true, kBox.bottom, kBox.top));
  frame.draw(plot.title, plot.note, {axis_title(plot.x), number_tick}, {axis_title(plot.y), number_tick});
  draw_lines(frame, plot.lines);
  return svg.finish();
}

std::string bar_plot_svg(const BarPlot& plot) {
  constexpr double kRow = 24;
  constexpr double kBar = 15;
  const Box box{330, kTop, 860, kTop + kRow * static_cast<double>(plot.bars.size()) + 8};
  const auto [least, most] =
      std::ranges::minmax(plot.bars, {}, [](const BarPlot::Bar& bar) { return bar.value; });
  const auto [first, last] = ends_of(plot.values.scale, least.value, most.value);
  // A bar of no length would not show the lowest value.
  const double start = plot.values.scale == Scale::Log ? first / 2 : first;
  const Axis axis(plot.values.scale, start, last, box.left, box.right);

  Svg svg(kWidth, box.bottom + kBelow, plot.title);
  draw_title(svg, box, 24, plot.title, plot.note);
  draw_x_axis(svg, box, axis, {axis_title(plot.values), number_tick});
  double y = box.top + kRow / 2 + 4;
  for (const BarPlot::Bar& bar : plot.bars) {
    const double end = axis.pixel(bar.value);
    svg.rectangle({box.left, y - kBar / 2, end, y + kBar / 2},
                  bar.name.starts_with("keysieve") ? "own" : "bar");
    svg.text({box.left - 10, y + 4}, Anchor::End, bar.name, "label");
    svg.text({end + 8, y + 4}, Anchor::Start, number_tick(bar.value), "label");
    y += kRow;
  }
  return svg.finish();
}

}  // namespace keysieve
