#include "tools/plot/names.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tools/plot/spread.hpp"

namespace keysieve {
namespace {

constexpr double kGap = 19;  // pixels between base lines
constexpr std::size_t kColours = 8;

}  // namespace

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

}  // namespace keysieve
