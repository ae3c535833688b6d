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

// The lowest FPR that the kind reaches with that many keys, with any k.
double least_fpr(const FilterKind& kind, const SizingRequest& request, double keys_per_shard) {
  double least = 1.0;
  for (const std::uint8_t k : kind.hash_counts) {
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

}  // namespace

std::string plan_plot(const SizingRequest& request, std::string_view recommended, double theoretical_fpr,
                      double bits_per_key) {
  const double first_fpr = std::max(0.2, request.target_fpr);
  const double last_fpr = std::clamp(request.target_fpr / 10, kMinFpr, 1e-4);
  std::string data;
  std::string commands;
  double most_bits = 0.0;
  std::size_t index = 0;
  for (const FilterKind& kind : filter_kinds()) {
    const std::vector<Point> curve = curve_of(kind, request, last_fpr);
    most_bits = std::max(most_bits, curve.back().y);
    data += block_of(curve);
    commands += fmt::format(
        "  $kinds index {} with lines linewidth 2 linecolor rgb hsv2rgb({:.3f}, 1, 0.8) dashtype {} title "
        "'{}', \\\n",
        index, static_cast<double>(index) / static_cast<double>(filter_kinds().size()), kind.is_usual ? 1 : 2,
        kind.name);
    ++index;
  }
  const double highest = std::ceil(std::min(most_bits, -2.2 * std::log2(last_fpr)));
  return fmt::format(
      "set termoption noenhanced\n"
      "set logscale x\n"
      "set grid\n"
      "$kinds << end\n{}end\n"
      "$target << end\n{}end\n"
      "$recommended << end\n{}end\n"
      "set title 'keysieve plan: bits per key against FPR, {} keys in shards of {}'\n"
      "set xlabel 'FPR'\n"
      "set ylabel 'bits per key'\n"
      "set format x '%g %%'\n"
      "set key outside right top\n"
      "plot [{:.6g}:{:.6g}] [0:{}] \\\n"
      "{}"
      "  -log(x / 100) / log(2) with lines linecolor 'gray50' title 'bound: log2(1 / FPR)', \\\n"
      "  $target with lines linecolor 'black' dashtype 3 title 'target: {:.3g} %', \\\n"
      "  $recommended with points pointtype 7 linecolor 'black' title 'recommended: {}'\n",
      data, block_of({{100 * request.target_fpr, 0.0}, {100 * request.target_fpr, highest}}),
      block_of({{100 * std::clamp(theoretical_fpr, last_fpr, first_fpr), bits_per_key}}),
      format_count(request.keys), format_bytes(request.shard_bytes), 100 * first_fpr, 100 * last_fpr, highest,
      commands, 100 * request.target_fpr, recommended);
}

}  // namespace keysieve
