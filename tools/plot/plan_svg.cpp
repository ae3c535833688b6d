#include "tools/plot/plan_svg.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/plot/frame.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr double kPlanWidth = 960;
constexpr double kPlanHeight = 1080;
constexpr Box kUpper{80, 70, 740, 480};  // names of kinds to the right
constexpr Box kLower{80, 610, 930, 1010};

// The plot shows loads whose FPR at the best k is in a range about the target.
constexpr double kLowestToTarget = 1.0 / 40.0;
constexpr double kHighestToTarget = 40.0;
constexpr double kHighest = 0.7;

struct Window {
  double lowest_fpr;
  double highest_fpr;
};

Window window_about(double target_fpr) {
  return {std::max(target_fpr * kLowestToTarget, kMinFpr / 10),
          std::min(target_fpr * kHighestToTarget, kHighest)};
}

// 1 and 3 times the powers of ten within the window, and the target; leaves out levels that would crowd it.
std::vector<double> levels_in(const Window& window, double target_fpr) {
  std::vector<double> levels{target_fpr};
  for (double power = kMinFpr / 100; power < 1.0; power *= 10) {
    for (const double level : {power, 3 * power}) {
      const double ratio = level / target_fpr;
      const bool crowds = ratio > 0.6 && ratio < 1.6;
      if (!crowds && level > window.lowest_fpr && level < window.highest_fpr) levels.push_back(level);
    }
  }
  return levels;
}

// A contour of one kind, where its FPR is `fpr`: the keys per shard for each k, ascending.
struct Contour {
  double fpr;
  std::vector<Point> points;

  // The best k is where the contour holds the most keys.
  [[nodiscard]] Point best() const {
    return *std::max_element(points.begin(), points.end(),
                             [](const Point& a, const Point& b) { return a.x < b.x; });
  }
};

Contour contour_of(const Geometry& planned, double fpr, int highest_k) {
  Contour contour{fpr, {}};
  FilterParams params = planned.params;
  for (const std::uint8_t k : planned.kind->hash_counts()) {
    if (k > highest_k) break;
    params.hash_count = k;
    contour.points.push_back({most_keys_per_shard(*planned.kind, params, fpr), static_cast<double>(k)});
  }
  return contour;
}

void draw_best(Frame& frame, const std::vector<Contour>& contours) {
  std::vector<Point> best;
  best.reserve(contours.size());
  for (const Contour& contour : contours) best.push_back(contour.best());
  std::sort(best.begin(), best.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  frame.curve(best, "guide");
}

// Each contour crosses each k once: its label goes where it crosses `row`.
void draw_labels(Frame& frame, const std::vector<Contour>& contours, double row) {
  constexpr double kHalfLabel = 24;
  for (const Contour& contour : contours) {
    const auto on_row = std::find_if(contour.points.begin(), contour.points.end(),
                                     [row](const Point& point) { return point.y == row; });
    const Point at = frame.at(*on_row);
    if (at.x < frame.box().left + kHalfLabel || at.x > frame.box().right - kHalfLabel) continue;
    frame.svg().text({at.x, at.y + 4}, Anchor::Middle, share_tick(contour.fpr), "halo");
  }
}

// Contours of the FPR over keys per shard and k, for one kind and shard size: they show which k suits which
// load. `planned` is marked at its load with `keys` keys.
void draw_contours(Svg& svg, const Box& box, const Geometry& planned, double keys, double target_fpr) {
  const Window window = window_about(target_fpr);
  const int most_k = planned.kind->hash_counts().back();
  const Point sparsest = contour_of(planned, window.lowest_fpr, most_k).best();
  const Point densest = contour_of(planned, window.highest_fpr, most_k).best();
  const double lowest_k = planned.kind->hash_counts().front();
  const double highest_k = std::min(sparsest.y + 4, static_cast<double>(most_k));
  const Point mark{keys / planned.shard_count, static_cast<double>(planned.params.hash_count)};
  Frame frame(svg, box, {Scale::Log, sparsest.x, densest.x, box.left, box.right},
              {Scale::Linear, lowest_k - 0.5, highest_k + 0.5, box.bottom, box.top});
  const bool is_visible = mark.x > sparsest.x;
  frame.draw(
      fmt::format("FPR of {} in shards of {}", planned.kind->name, format_bytes(planned.params.shard_bytes)),
      fmt::format(
          "Each line: the keys per shard that give this FPR. Dotted: the best k. {}: {} keys with k = {}.",
          is_visible ? "Dot: planned" : "Planned, further left", count_tick(mark.x), mark.y),
      {"keys per shard (logarithmic)", count_tick}, {"k, bits set per key", count_tick});

  std::vector<Contour> contours;
  for (const double level : levels_in(window, target_fpr)) {
    contours.push_back(contour_of(planned, level, std::min(most_k, static_cast<int>(highest_k) + 1)));
  }
  for (const Contour& contour : contours) {
    frame.curve(contour.points, contour.fpr == target_fpr ? "contour target" : "contour");
  }
  draw_best(frame, contours);
  draw_labels(frame, contours, highest_k - 1);
  if (is_visible) svg.dot(frame.at(mark), 6, "mark");
}

struct Series {
  std::string name;
  std::string style;
  std::vector<Point> points;  // (FPR, bits per key), ascending bits
};

// The lowest FPR that the kind reaches with that many keys, with any k.
double least_fpr(const FilterKind& kind, const SizingRequest& request, double keys_per_shard) {
  double least = 1.0;
  for (const std::uint8_t k : kind.hash_counts()) {
    const FilterParams params{.shard_bytes = request.shard_bytes, .hash_count = k};
    least = std::min(least, kind.theoretical_fpr(params, keys_per_shard));
  }
  return least;
}

// Starts at few bits per key and stops when the FPR is out of sight.
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

// Bits per key against FPR for every kind, with the bound that no filter can pass: what a lower FPR costs.
// The names of the kinds are to the right of the box.
void draw_bits_per_key(Svg& svg, const Box& box, const SizingRequest& request,
                       const RecommendedKind& recommended, bool (*is_usual)(const FilterKind& kind)) {
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
  const Point mark{std::clamp(recommended.fpr, last_fpr, first_fpr), recommended.bits_per_key};
  const bool is_visible = mark.y <= highest;
  const std::string title =
      fmt::format("Bits per key against FPR, in shards of {}", format_bytes(request.shard_bytes));
  frame.draw(title,
             fmt::format("{}: {}. Dashed: for comparison. Bound: log2(1/FPR). Dotted: the target, {}.",
                         is_visible ? "Dot: recommended" : "Recommended, above", recommended.name,
                         share_tick(target_fpr)),
             {"FPR (logarithmic)", share_tick}, {"bits per key", count_tick});
  frame.curve({{target_fpr, 0.0}, {target_fpr, highest}}, "guide");
  for (const Series& series : all) frame.curve(series.points, series.style);
  draw_names(frame, names_of(frame, all, last_fpr));
  if (is_visible) svg.dot(frame.at(mark), 6, "mark");
}

}  // namespace

std::string plan_svg(const SizingRequest& request, const RecommendedKind& recommended,
                     bool (*is_usual)(const FilterKind& kind)) {
  const Geometry contoured = size_filter(filter_kind_named("bloom"), request);
  Svg svg(kPlanWidth, kPlanHeight, fmt::format("keysieve plan: {} keys", format_count(request.keys)));
  draw_bits_per_key(svg, kUpper, request, recommended, is_usual);
  draw_contours(svg, kLower, contoured, static_cast<double>(request.keys) * request.growth,
                request.target_fpr);
  return svg.finish();
}

}  // namespace keysieve
