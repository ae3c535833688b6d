// An axis of a plot: from values to pixels, linear or logarithmic, in either direction.
#pragma once

#include <vector>

namespace keysieve {

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

}  // namespace keysieve
