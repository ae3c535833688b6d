#include "tools/cli/plan_plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tools/program/units.hpp"

namespace keysieve {
namespace {

struct Point {
  double x;
  double y;
};

// Lines of gnuplot's data; the empty ones end a block.
std::string block_of(const std::vector<Point>& points) {
  std::string block;
  for (const Point& point : points) block += fmt::format("{:.6g} {:.6g}\n", point.x, point.y);
  return block + "\n\n";
}

// In percent, as the axis.
std::string share_text(double share) {
  return fmt::format("{:.3g} %", 100 * share);
}

// The lowest FPR that the kind reaches with that many keys, with any k.
double least_fpr(const FilterKind& kind, const SizingRequest& request, double keys_per_shard) {
  double least = 1.0;
  for (const std::uint8_t k : kind.hash_counts()) {
    const FilterParams params{.shard_bytes = request.shard_bytes, .hash_count = k};
    least = std::min(least, kind.theoretical_fpr(params, keys_per_shard));
  }
  return least;
}

// FPR in percent and bits per key: starts at few bits and stops when the FPR is out of sight.
std::vector<Point> curve_of(const FilterKind& kind, const SizingRequest& request, double last_fpr) {
  constexpr double kStep = 1.02;
  constexpr double kMostBits = 200;
  std::vector<Point> points;
  for (double bits = 1.0; bits < kMostBits; bits *= kStep) {
    points.push_back({100 * least_fpr(kind, request, 8.0 * request.shard_bytes / bits), bits});
    if (points.back().x < 100 * last_fpr) break;
  }
  return points;
}

// Bits per key against FPR for every kind, with the bound that no filter can pass: what a lower FPR costs.
std::string bits_per_key(const SizingRequest& request, const RecommendedKind& recommended,
                         bool (*is_usual)(const FilterKind& kind)) {
  const double first_fpr = std::max(0.2, request.target_fpr);
  const double last_fpr = std::clamp(request.target_fpr / 10, kMinFpr, 1e-4);
  std::string data;
  std::string curves;
  double most_bits = 0.0;
  std::size_t index = 0;
  for (const FilterKind& kind : filter_kinds()) {
    const std::vector<Point> curve = curve_of(kind, request, last_fpr);
    most_bits = std::max(most_bits, curve.back().y);
    data += block_of(curve);
    curves += fmt::format("  $kinds index {} with lines linewidth 2 dashtype {} title '{}', \\\n", index++,
                          is_usual(kind) ? 1 : 2, kind.name);
  }
  const double highest = std::ceil(std::min(most_bits, -2.2 * std::log2(last_fpr)));
  return fmt::format(
      "$kinds << end\n{}end\n"
      "$target << end\n{}end\n"
      "$recommended << end\n{}end\n"
      "set title 'Bits per key against FPR, in shards of {}'\n"
      "set xlabel 'FPR'\n"
      "set ylabel 'bits per key'\n"
      "set format x '%g %%'\n"
      "set key outside right top\n"
      "plot [{:.6g}:{:.6g}] [0:{}] \\\n"
      "{}"
      "  -log(x / 100) / log(2) with lines linecolor 'gray50' title 'bound: log2(1 / FPR)', \\\n"
      "  $target with lines linecolor 'black' dashtype 3 title 'target: {}', \\\n"
      "  $recommended with points pointtype 7 linecolor 'black' title 'recommended: {}'\n",
      data, block_of({{100 * request.target_fpr, 0.0}, {100 * request.target_fpr, highest}}),
      block_of({{100 * std::clamp(recommended.fpr, last_fpr, first_fpr), recommended.bits_per_key}}),
      format_bytes(request.shard_bytes), 100 * first_fpr, 100 * last_fpr, highest, curves,
      share_text(request.target_fpr), recommended.name);
}

// Shows loads whose FPR at the best k is in a range about the target.
struct Window {
  double lowest_fpr;
  double highest_fpr;
};

Window window_about(double target_fpr) {
  return {std::max(target_fpr / 40, kMinFpr / 10), std::min(target_fpr * 40, 0.7)};
}

// The target, then 1 and 3 times the powers of ten within the window; leaves out levels that would crowd it.
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

// Where the FPR is `fpr`: the keys per shard for each k, ascending.
std::vector<Point> contour_of(const Geometry& planned, double fpr, double highest_k) {
  std::vector<Point> points;
  FilterParams params = planned.params;
  for (const std::uint8_t k : planned.kind->hash_counts()) {
    if (k > highest_k) break;
    params.hash_count = k;
    points.push_back({most_keys_per_shard(*planned.kind, params, fpr), static_cast<double>(k)});
  }
  return points;
}

bool has_fewer_keys(const Point& a, const Point& b) {
  return a.x < b.x;
}

// The best k is where the contour holds the most keys.
Point best_of(const std::vector<Point>& contour) {
  return *std::max_element(contour.begin(), contour.end(), has_fewer_keys);
}

// FPR over keys per shard and k, for one kind and shard size: which k suits which load. A dot shows what is
// planned.
std::string contours(const Geometry& planned, double keys, double target_fpr) {
  const Window window = window_about(target_fpr);
  const double lowest_k = planned.kind->hash_counts().front();
  const double most_k = planned.kind->hash_counts().back();
  const Point sparsest = best_of(contour_of(planned, window.lowest_fpr, most_k));
  const Point densest = best_of(contour_of(planned, window.highest_fpr, most_k));
  const double highest_k = std::min(sparsest.y + 4, most_k);
  const Point mark{keys / planned.shard_count, static_cast<double>(planned.params.hash_count)};
  std::string data;
  std::string labels;
  std::vector<Point> best;
  for (const double fpr : levels_in(window, target_fpr)) {
    const std::vector<Point> contour = contour_of(planned, fpr, highest_k + 1);
    data += block_of(contour);
    best.push_back(best_of(contour));
    for (const Point& point : contour) {
      if (point.y == highest_k - 1)
        labels += fmt::format("{:.6g} {} \"{}\"\n", point.x, point.y, share_text(fpr));
    }
  }
  std::sort(best.begin(), best.end(), has_fewer_keys);
  return fmt::format(
      "$contours << end\n{}end\n"
      "$best << end\n{}end\n"
      "$labels << end\n{}end\n"
      "$planned << end\n{}end\n"
      "set title 'FPR of {} in shards of {}: each line has the keys per shard that give it'\n"
      "set xlabel 'keys per shard'\n"
      "set ylabel 'k, bits set per key'\n"
      "set format x '%g'\n"
      "set xtics (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000)\n"
      "set key below\n"
      "plot [{:.6g}:{:.6g}] [{}:{}] \\\n"
      "  $contours with lines linecolor 'gray50' notitle, \\\n"
      "  $contours index 0 with lines linewidth 3 linecolor 1 title 'target: {}', \\\n"
      "  $best with lines linecolor 'black' dashtype 3 title 'best k', \\\n"
      "  $planned with points pointtype 7 linecolor 'black' title 'planned: {:.0f} keys with k = {}', \\\n"
      "  $labels with labels boxed notitle\n",
      data, block_of(best), labels, block_of({mark}), planned.kind->name,
      format_bytes(planned.params.shard_bytes), sparsest.x, densest.x, lowest_k - 0.5, highest_k + 0.5,
      share_text(target_fpr), mark.x, mark.y);
}

}  // namespace

std::string plan_plot(const SizingRequest& request, const RecommendedKind& recommended,
                      bool (*is_usual)(const FilterKind& kind)) {
  const Geometry contoured = size_filter(filter_kind_named("bloom"), request);
  return fmt::format(
      "set termoption noenhanced\n"
      "set style textbox opaque noborder\n"
      "set logscale x\n"
      "set grid\n"
      "set multiplot layout 2,1 title 'keysieve plan: {} keys'\n"
      "{}{}"
      "unset multiplot\n",
      format_count(request.keys), bits_per_key(request, recommended, is_usual),
      contours(contoured, static_cast<double>(request.keys) * request.growth, request.target_fpr));
}

}  // namespace keysieve
