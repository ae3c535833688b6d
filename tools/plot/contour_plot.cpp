#include "tools/plot/contour_plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/plot/frame.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

// The plot shows loads whose FPR at the best k lies in a range about the target.
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

// 1 and 3 times the powers of ten within the window, and the target; without what would crowd it.
std::vector<double> levels_in(const Window& window, double target_fpr) {
  std::vector<double> levels{target_fpr};
  for (double power = 1e-8; power < 1.0; power *= 10) {
    for (const double level : {power, 3 * power}) {
      const double ratio = level / target_fpr;
      const bool crowds = ratio > 0.6 && ratio < 1.6;
      if (!crowds && level > window.lowest_fpr && level < window.highest_fpr) levels.push_back(level);
    }
  }
  return levels;
}

// Where the FPR of one kind is `fpr`: the keys per shard for each k, ascending.
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

// Each contour passes each k once: its label stands where it passes `row`.
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

}  // namespace

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

}  // namespace keysieve
