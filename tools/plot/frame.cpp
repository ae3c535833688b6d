#include "tools/plot/frame.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr double kMostTicks = 8.0;
constexpr double kRounding = 1e-9;  // counts a tick at the very end of the axis
constexpr double kGap = 19;         // pixels between base lines
constexpr std::size_t kColours = 8;

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

Frame::Frame(Svg& svg, const Box& box, Axis x, Axis y) : svg_(svg), box_(box), x_(x), y_(y) {}

void Frame::draw(std::string_view title, std::string_view note, const AxisTitle& x, const AxisTitle& y) {
  draw_title(svg_, box_, box_.left, title, note);
  draw_x_axis(svg_, box_, x_, x);
  for (const double value : y_.ticks()) {
    const double pixel = y_.pixel(value);
    svg_.line({box_.left, pixel}, {box_.right, pixel}, "grid");
    svg_.text({box_.left - 10, pixel + 4}, Anchor::End, y.tick(value), "tick");
  }
  svg_.line({box_.left, box_.bottom}, {box_.right, box_.bottom}, "frame");
  svg_.line({box_.left, box_.top}, {box_.left, box_.bottom}, "frame");
  svg_.upward_text({box_.left - 66, (box_.top + box_.bottom) / 2}, y.title, "axis");
}

void Frame::curve(const std::vector<Point>& values, std::string_view style) {
  std::vector<Point> points;
  points.reserve(values.size());
  for (const Point& value : values) points.push_back(at(value));
  svg_.curve(points, box_, style);
}

void draw_title(Svg& svg, const Box& box, double left, std::string_view title, std::string_view note) {
  svg.text({left, box.top - 38}, Anchor::Start, title, "title");
  svg.text({left, box.top - 16}, Anchor::Start, note, "note");
}

void draw_x_axis(Svg& svg, const Box& box, const Axis& axis, const AxisTitle& title) {
  for (const double value : axis.ticks()) {
    const double pixel = axis.pixel(value);
    svg.line({pixel, box.top}, {pixel, box.bottom}, "grid");
    svg.text({pixel, box.bottom + 20}, Anchor::Middle, title.tick(value), "tick");
  }
  svg.text({(box.left + box.right) / 2, box.bottom + 46}, Anchor::Middle, title.title, "axis");
}

std::string share_tick(double share) {
  const double percent = share * 100;
  const int decimals = std::max(0, 2 - static_cast<int>(std::floor(std::log10(percent))));
  std::string text = fmt::format("{:.{}f}", percent, decimals);
  if (decimals > 0) text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + " %";
}

std::string count_tick(double count) {
  return format_count(static_cast<std::uint64_t>(std::llround(count)));
}

std::string number_tick(double number) {
  constexpr double kMillion = 1e6;
  if (number >= kMillion) return fmt::format("{:.4g} million", number / kMillion);
  return number < 1000 ? fmt::format("{:.4g}", number + 0.0) : count_tick(number);  // + 0.0: no "-0"
}

void draw_names(Frame& frame, const std::vector<CurveName>& names) {
  const Box& box = frame.box();
  std::vector<double> wanted;
  wanted.reserve(names.size());
  for (const CurveName& name : names) wanted.push_back(std::max(name.end.y, box.top));
  const std::vector<double> places = spread(wanted, kGap, box.top + 6, box.bottom - 6);
  for (std::size_t i = 0; i < names.size(); ++i) {
    frame.svg().line({names[i].end.x, wanted[i]}, {box.right + 18, places[i]}, "leader");
    frame.svg().line({box.right + 18, places[i]}, {box.right + 38, places[i]}, names[i].style);
    frame.svg().text({box.right + 44, places[i] + 4}, Anchor::Start, names[i].name, "label");
  }
}

std::string curve_style(std::size_t n) {
  return fmt::format("curve series-{}{}", n % kColours, n < kColours ? "" : " comparison");
}

std::vector<double> spread(const std::vector<double>& wanted, double gap, double lowest, double highest) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&wanted](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });

  // Going up from the lowest, each keeps clear of the one before; then going down from the highest.
  std::vector<double> places(wanted.size());
  double free_from = lowest;
  for (const std::size_t i : order) {
    places[i] = std::max(wanted[i], free_from);
    free_from = places[i] + gap;
  }
  double free_to = highest;
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    places[*i] = std::min(places[*i], free_to);
    free_to = places[*i] - gap;
  }
  return places;
}

}  // namespace keysieve
