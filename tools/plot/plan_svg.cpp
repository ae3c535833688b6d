#include "tools/plot/plan_svg.hpp"

#include <fmt/core.h>

#include "tools/plot/bits_plot.hpp"
#include "tools/plot/contour_plot.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr double kPlanWidth = 960;
constexpr double kPlanHeight = 1080;
constexpr Box kUpper{80, 70, 930, 470};
constexpr Box kLower{80, 600, 740, 1010};  // names of kinds to the right

}  // namespace

std::string plan_svg(const SizingRequest& request, bool (*is_usual)(const FilterKind& kind)) {
  const Geometry contoured = size_filter(filter_kind_named("bloom"), request);
  Svg svg(kPlanWidth, kPlanHeight, fmt::format("keysieve plan: {} keys", format_count(request.keys)));
  draw_contours(svg, kUpper, contoured, static_cast<double>(request.keys) * request.growth,
                request.target_fpr);
  draw_bits_per_key(svg, kLower, request, is_usual);
  return svg.finish();
}

}  // namespace keysieve
