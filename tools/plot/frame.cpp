#include "tools/plot/frame.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/program/units.hpp"

namespace keysieve {

Frame::Frame(Svg& svg, const Box& box, Axis x, Axis y) : svg_(svg), box_(box), x_(x), y_(y) {}

void Frame::draw(std::string_view title, std::string_view note, const AxisTitle& x, const AxisTitle& y) {
  svg_.text({box_.left, box_.top - 38}, Anchor::Start, title, "title");
  svg_.text({box_.left, box_.top - 16}, Anchor::Start, note, "note");
  for (const double value : x_.ticks()) {
    const double pixel = x_.pixel(value);
    svg_.line({pixel, box_.top}, {pixel, box_.bottom}, "grid");
    svg_.text({pixel, box_.bottom + 20}, Anchor::Middle, x.tick(value), "tick");
  }
  for (const double value : y_.ticks()) {
    const double pixel = y_.pixel(value);
    svg_.line({box_.left, pixel}, {box_.right, pixel}, "grid");
    svg_.text({box_.left - 10, pixel + 4}, Anchor::End, y.tick(value), "tick");
  }
  svg_.line({box_.left, box_.bottom}, {box_.right, box_.bottom}, "frame");
  svg_.line({box_.left, box_.top}, {box_.left, box_.bottom}, "frame");
  svg_.text({(box_.left + box_.right) / 2, box_.bottom + 46}, Anchor::Middle, x.title, "axis");
  svg_.upward_text({box_.left - 66, (box_.top + box_.bottom) / 2}, y.title, "axis");
}

void Frame::curve(const std::vector<Point>& values, std::string_view style) {
  std::vector<Point> points;
  points.reserve(values.size());
  for (const Point& value : values) points.push_back(at(value));
  svg_.curve(points, box_, style);
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

}  // namespace keysieve
