#include "tools/loader/http/page/distribution_svg.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tools/program/units.hpp"

namespace keysieve {
namespace {

// In units of the view box, which the page scales to the width that there is.
constexpr double kWidth = 320;
constexpr double kHeight = 132;
constexpr double kGap = 1.5;
constexpr double kLeastBar = 1.5;  // a bin with one shard among thousands is seen
constexpr double kLabelHeight = 16;
constexpr double kFoot = kHeight - kLabelHeight;

std::string value_text(const ShardDistribution& distribution, double value) {
  if (distribution.measure == ShardDistribution::Measure::KeysPerShard) return fmt::format("{:.0f}", value);
  return fmt::format("{:.1f} %", value * 100);
}

bool has_one_value(const ShardDistribution& distribution) {
  return distribution.lowest == distribution.highest;
}

std::string bars(const ShardDistribution& distribution) {
  const auto most =
      static_cast<double>(*std::max_element(distribution.bins.begin(), distribution.bins.end()));
  const double bin_width = kWidth / static_cast<double>(distribution.bins.size());
  std::string text;
  for (std::size_t i = 0; i < distribution.bins.size(); ++i) {
    const std::uint64_t shards = distribution.bins[i];
    if (shards == 0) continue;
    const double height = std::max(kLeastBar, static_cast<double>(shards) / most * (kFoot - 2));
    text += fmt::format(
        "<rect class=\"bar\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" rx=\"1\">"
        "<title>{}</title></rect>",
        static_cast<double>(i) * bin_width, kFoot - height, bin_width - kGap, height,
        format_count_of(shards, "shard"));
  }
  return text;
}

std::string label(double x, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">{}</text>", x, kHeight - 3, anchor,
                     text);
}

// Marks the mean among the bars; its label stays between those of the ends.
std::string mean_mark(const ShardDistribution& distribution) {
  const double share =
      (distribution.mean - distribution.lowest) / (distribution.highest - distribution.lowest);
  const double x = share * kWidth;
  return fmt::format("<line class=\"mean\" x1=\"{0:.1f}\" y1=\"0\" x2=\"{0:.1f}\" y2=\"{1}\"/>", x, kFoot) +
         label(std::clamp(x, kWidth * 0.32, kWidth * 0.68), "middle",
               "mean " + value_text(distribution, distribution.mean));
}

}  // namespace

std::string distribution_svg(const ShardDistribution& distribution) {
  std::string text =
      fmt::format("<svg class=\"shards\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", kWidth,
                  kHeight, distribution_caption(distribution));
  text += bars(distribution);
  text += fmt::format("<line class=\"axis\" x1=\"0\" y1=\"{0}\" x2=\"{1}\" y2=\"{0}\"/>", kFoot, kWidth);
  if (has_one_value(distribution)) {
    text += label(kWidth / 2, "middle", value_text(distribution, distribution.mean));
  } else {
    text += label(0, "start", value_text(distribution, distribution.lowest)) + mean_mark(distribution) +
            label(kWidth, "end", value_text(distribution, distribution.highest));
  }
  return text + "</svg>";
}

std::string distribution_caption(const ShardDistribution& distribution) {
  const bool is_fill = distribution.measure == ShardDistribution::Measure::FillRatio;
  const std::string shards = format_count_of(distribution.shard_count, "shard");
  const std::string measure = is_fill ? "fill ratio" : "keys per shard";
  if (has_one_value(distribution)) {
    return fmt::format("{}, {} {}", shards, measure, value_text(distribution, distribution.mean));
  }
  return fmt::format("{}, {} {} to {}", shards, measure, value_text(distribution, distribution.lowest),
                     value_text(distribution, distribution.highest));
}

}  // namespace keysieve
