// The frame of a plot: title, two axes with their ticks and names, the place of values in it, and the names
// of its curves to the right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/plot/svg.hpp"

namespace keysieve {

// An axis: from values to pixels, linear or logarithmic, in either direction.
enum class Scale { Linear, Log };

class Axis {
 public:
  // `first` is drawn at `first_pixel`, `last` at `last_pixel`; they differ, and are above 0 where the scale
  // is logarithmic.
  Axis(Scale scale, double first, double last, double first_pixel, double last_pixel);

  [[nodiscard]] double pixel(double value) const;
  // Round values on the axis, ascending: about eight of them when linear; when logarithmic the powers of ten,
  // and round multiples of them where those are few.
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
  std::string (*tick)(double value);  // how a value is written at its tick
};

class Frame {
 public:
  // The x axis runs along the bottom of the box, y along its left side; their pixels are the box's.
  Frame(Svg& svg, const Box& box, Axis x, Axis y);

  // Draws what everything else lies upon. `note` stands under the title.
  void draw(std::string_view title, std::string_view note, const AxisTitle& x, const AxisTitle& y);

  [[nodiscard]] Point at(Point value) const { return {x_.pixel(value.x), y_.pixel(value.y)}; }
  [[nodiscard]] const Box& box() const noexcept { return box_; }
  [[nodiscard]] Svg& svg() noexcept { return svg_; }

  // A line through values, as far as they are in the frame.
  void curve(const std::vector<Point>& values, std::string_view style);

 private:
  Svg& svg_;
  Box box_;
  Axis x_;
  Axis y_;
};

// Title, and the note under it, above the box; then its x axis with ticks along its bottom. Part of a frame,
// and all that a plot of bars has of one.
void draw_title(Svg& svg, const Box& box, double left, std::string_view title, std::string_view note);
void draw_x_axis(Svg& svg, const Box& box, const Axis& axis, const AxisTitle& title);

// Ticks of FPRs above 0, to three digits, of counts, and of measured numbers: "0.1 %", "2,000", "1.5
// million".
std::string share_tick(double share);
std::string count_tick(double count);
std::string number_tick(double number);

// The name of a curve stands next to the end of it, as far as there is room.
struct CurveName {
  std::string name;
  std::string style;  // of the curve
  Point end;          // pixels: where the curve ends or leaves the plot
};

void draw_names(Frame& frame, const std::vector<CurveName>& names);

// The style of the n-th curve of a plot: eight colours, then the same ones dashed.
std::string curve_style(std::size_t n);

// Where to put labels that would like to stand at certain places of one line, so that none covers another.
// The places, in the order of `wanted`: as near to them as it goes, in their order, at least `gap` apart, and
// from `lowest` to `highest` as long as there is room for all.
std::vector<double> spread(const std::vector<double>& wanted, double gap, double lowest, double highest);

}  // namespace keysieve
