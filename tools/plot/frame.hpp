// The frame of a plot: title, two axes with their ticks and names, the positions of values, and the names of
// its curves to the right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/plot/svg.hpp"

namespace keysieve {

// An axis maps values to pixels, linearly or logarithmically, in either direction.
enum class Scale { Linear, Log };

class Axis {
 public:
  // `first` is drawn at `first_pixel`, `last` at `last_pixel`. They must differ, and be above 0 if the scale
  // is logarithmic.
  Axis(Scale scale, double first, double last, double first_pixel, double last_pixel);

  [[nodiscard]] double pixel(double value) const;
  // Round values on the axis, ascending. A linear axis has about eight of them; a logarithmic one has the
  // powers of ten, and round multiples of them if those are few.
  [[nodiscard]] std::vector<double> ticks() const;

 private:
  [[nodiscard]] double position(double value) const;
  [[nodiscard]] std::vector<double> linear_ticks(double lowest, double highest) const;
  [[nodiscard]] std::vector<double> log_ticks(double lowest, double highest) const;

  Scale scale_;
  double first_;
  double last_;
  double first_pixel_;
  double last_pixel_;
};

struct AxisTitle {
  std::string_view title;
  std::string (*tick)(double value);  // formats a value for its tick
};

class Frame {
 public:
  // The x axis runs along the bottom of the box, y along its left side; their pixels are the box's.
  Frame(Svg& svg, const Box& box, Axis x, Axis y);

  // Draws the background for everything else. `note` is printed under the title.
  void draw(std::string_view title, std::string_view note, const AxisTitle& x, const AxisTitle& y);

  [[nodiscard]] Point at(Point value) const { return {x_.pixel(value.x), y_.pixel(value.y)}; }
  [[nodiscard]] const Box& box() const noexcept { return box_; }
  [[nodiscard]] Svg& svg() noexcept { return svg_; }

  // Draws a line through values, as far as they are in the frame.
  void curve(const std::vector<Point>& values, std::string_view style);

 private:
  Svg& svg_;
  Box box_;
  Axis x_;
  Axis y_;
};

// Draws the title, and the note under it, above the box; then its x axis with ticks along its bottom. This is
// the part of a frame that a plot of bars uses.
void draw_title(Svg& svg, const Box& box, double left, std::string_view title, std::string_view note);
void draw_x_axis(Svg& svg, const Box& box, const Axis& axis, const AxisTitle& title);

// Ticks for FPRs above 0 (to three digits), for counts, and for measured numbers: "0.1 %", "2,000", "1.5
// million".
std::string share_tick(double share);
std::string count_tick(double count);
std::string number_tick(double number);

// The name of a curve is printed next to its end, as far as there is room.
struct CurveName {
  std::string name;
  std::string style;  // of the curve
  Point end;          // pixels: where the curve ends or leaves the plot
};

void draw_names(Frame& frame, const std::vector<CurveName>& names);

// The style of the n-th curve of a plot: eight colours, then the same ones dashed.
std::string curve_style(std::size_t n);

// Where to put labels that should be at certain places of one line, so that none covers another. Returns the
// places in the order of `wanted`: as near to them as possible, in their order, at least `gap` apart, and
// from `lowest` to `highest` as long as there is room for all.
std::vector<double> spread(const std::vector<double>& wanted, double gap, double lowest, double highest);

}  // namespace keysieve
