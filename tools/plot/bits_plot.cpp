#include "tools/plot/bits_plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/plot/names.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

struct Series {
  std::string name;
  std::string style;
  std::vector<Point> points;  // (FPR, bits per key), ascending bits
};

// The lowest FPR that the kind reaches with so many keys, whatever k.
double least_fpr(const FilterKind& kind, const SizingRequest& request, double keys_per_shard) {
  double least = 1.0;
  for (const std::uint8_t k : kind.hash_counts()) {
    const FilterParams params{.shard_bytes = request.shard_bytes, .hash_count = k};
    least = std::min(least, kind.theoretical_fpr(params, keys_per_shard));
  }
  return least;
}

// From few bits per key on until the FPR is out of sight.
std::vector<Point> points_of(const FilterKind& kind, const SizingRequest& request, double last_fpr) {
  constexpr double kStep = 1.02;
  constexpr double kMostBits = 200;
  std::vector<Point> points;
  for (double bits = 1.0; bits < kMostBits; bits *= kStep) {
    points.push_back({least_fpr(kind, request, 8.0 * request.shard_bytes / bits), bits});
    if (points.back().x < last_fpr) break;
  }
  return points;
}

// Bits per key where the curve leaves the plot on the right.
double end_of(const std::vector<Point>& points, double last_fpr) {
  const Point& after = points.back();
  const Point& before = points[points.size() - 2];
  const double share = std::log(last_fpr / before.x) / std::log(after.x / before.x);
  return before.y + share * (after.y - before.y);
}

std::vector<Series> series_of_kinds(const SizingRequest& request, double last_fpr,
                                    bool (*is_usual)(const FilterKind& kind)) {
  std::vector<Series> all;
  for (const FilterKind& kind : filter_kinds()) {
    all.push_back({std::string(kind.name),
                   fmt::format("curve series-{}{}", all.size(), is_usual(kind) ? "" : " comparison"),
                   points_of(kind, request, last_fpr)});
  }
  return all;
}

Series bound(double first_fpr, double last_fpr) {
  return {"bound", "bound", {{first_fpr, -std::log2(first_fpr)}, {last_fpr, -std::log2(last_fpr)}}};
}

std::vector<CurveName> names_of(const Frame& frame, const std::vector<Series>& all, double last_fpr) {
  std::vector<CurveName> names;
  names.reserve(all.size());
  for (const Series& series : all) {
    names.push_back({series.name, series.style, frame.at({last_fpr, end_of(series.points, last_fpr)})});
  }
  return names;
}

}  // namespace

void draw_bits_per_key(Svg& svg, const Box& box, const SizingRequest& request,
                       bool (*is_usual)(const FilterKind& kind)) {
  const double target_fpr = request.target_fpr;
  const double first_fpr = std::max(0.2, target_fpr);
  const double last_fpr = std::clamp(target_fpr / 10, kMinFpr, 1e-4);
  std::vector<Series> all = series_of_kinds(request, last_fpr, is_usual);
  all.push_back(bound(first_fpr, last_fpr));

  double most_bits = 0.0;
  for (const Series& series : all) most_bits = std::max(most_bits, end_of(series.points, last_fpr));
  const double highest = std::ceil(std::min(most_bits, -2.2 * std::log2(last_fpr)));
  Frame frame(svg, box, {Scale::Log, first_fpr, last_fpr, box.left, box.right},
              {Scale::Linear, 0.0, highest, box.bottom, box.top});
  const std::string title =
      fmt::format("Bits per key against FPR, in shards of {}", format_bytes(request.shard_bytes));
  frame.draw(title,
             fmt::format("Dashed: kinds for comparison. Bound: log2(1/FPR), below which no filter can go. "
                         "Dotted: the target, {}.",
                         share_tick(target_fpr)),
             {"FPR (logarithmic)", share_tick}, {"bits per key", count_tick});
  frame.curve({{target_fpr, 0.0}, {target_fpr, highest}}, "guide");
  for (const Series& series : all) frame.curve(series.points, series.style);
  draw_names(frame, names_of(frame, all, last_fpr));
}

}  // namespace keysieve
