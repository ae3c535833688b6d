#include "tools/plot/axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace keysieve {
namespace {

constexpr double kMostTicks = 8.0;
constexpr double kRounding = 1e-9;  // a tick on the very end of the axis is on it

}  // namespace

Axis::Axis(Scale scale, double first, double last, double first_pixel, double last_pixel)
    : scale_(scale), first_(first), last_(last), first_pixel_(first_pixel), last_pixel_(last_pixel) {}

double Axis::position(double value) const {
  return scale_ == Scale::Log ? std::log10(value) : value;
}

double Axis::pixel(double value) const {
  const double share = (position(value) - position(first_)) / (position(last_) - position(first_));
  return first_pixel_ + share * (last_pixel_ - first_pixel_);
}

std::vector<double> Axis::ticks() const {
  const double lowest = std::min(first_, last_);
  const double highest = std::max(first_, last_);
  return scale_ == Scale::Log ? log_ticks(lowest, highest) : linear_ticks(lowest, highest);
}

std::vector<double> Axis::linear_ticks(double lowest, double highest) const {
  const double least = (highest - lowest) / kMostTicks;
  double step = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {2.0, 2.5, 2.0}) {  // 1, 2, 5, 10
    if (step >= least) break;
    step *= factor;
  }
  std::vector<double> ticks;
  for (double n = std::ceil(lowest / step - kRounding); n * step <= highest + kRounding * step; ++n) {
    ticks.push_back(n * step);
  }
  return ticks;
}

std::vector<double> Axis::log_ticks(double lowest, double highest) const {
  const double decades = std::log10(highest / lowest);
  const std::vector<double> digits = decades > 1.5 ? std::vector{1.0}
                                     : decades > 0.5
                                         ? std::vector{1.0, 2.0, 3.0, 5.0}
                                         : std::vector{1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0};
  std::vector<double> ticks;
  for (double power = std::floor(std::log10(lowest)); power <= std::log10(highest); ++power) {
    for (const double digit : digits) {
      const double value = digit * std::pow(10.0, power);
      if (value >= lowest * (1 - kRounding) && value <= highest * (1 + kRounding)) ticks.push_back(value);
    }
  }
  return ticks;
}

}  // namespace keysieve
