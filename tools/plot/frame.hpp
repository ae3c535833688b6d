// The frame of a plot: title, two axes with their ticks and names, and the place of values in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/plot/axis.hpp"
#include "tools/plot/svg.hpp"

namespace keysieve {

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

// Ticks of FPRs above 0, to three digits, of counts, and of measured numbers: "0.1 %", "2,000", "1.5
// million".
std::string share_tick(double share);
std::string count_tick(double count);
std::string number_tick(double number);

}  // namespace keysieve
