#include "tools/plot/svg.hpp"

#include <fmt/core.h>

#include <array>

#include "tools/program/printable.hpp"

namespace keysieve {
namespace {

// Each filter kind has its own colour, series-0 to series-7; they can be told apart on white and on near
// black.
constexpr std::string_view kStyle = R"(<style>
  :root { color-scheme: light dark; }
  .page { fill: #ffffff; }
  text { font-family: system-ui, "DejaVu Sans", sans-serif; font-size: 13px; fill: #24292f; }
  .title { font-size: 17px; font-weight: 600; }
  .note, .tick { fill: #57606a; }
  .grid { stroke: #d8dee4; stroke-width: 1; }
  .frame { stroke: #8c959f; stroke-width: 1; }
  .curve { fill: none; stroke-width: 2; stroke-linejoin: round; }
  .comparison { stroke-width: 1.5; stroke-dasharray: 6 4; }
  .contour { fill: none; stroke: #1f6fb4; stroke-width: 1.5; stroke-linejoin: round; }
  .target { stroke-width: 3; }
  .guide { fill: none; stroke: #57606a; stroke-width: 1.5; stroke-dasharray: 2 4; }
  .bound { fill: none; stroke: #24292f; stroke-width: 2; }
  .leader { stroke: #8c959f; stroke-width: 1; }
  .point { fill: #ffffff; stroke-width: 2; }
  .bar { fill: #8c959f; }
  .own { fill: #1f6fb4; }
  .mark { fill: #c0282d; stroke: #ffffff; stroke-width: 2; }
  .halo { paint-order: stroke; stroke: #ffffff; stroke-width: 5px; stroke-linejoin: round; }
  .series-0 { stroke: #1f6fb4; } .series-1 { stroke: #b8570a; } .series-2 { stroke: #2a7f3e; }
  .series-3 { stroke: #c0282d; } .series-4 { stroke: #7a4fb5; } .series-5 { stroke: #7d5230; }
  .series-6 { stroke: #b83b8e; } .series-7 { stroke: #0f7f85; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; }
    text { fill: #e6edf3; }
    .note, .tick { fill: #9198a1; }
    .grid { stroke: #272e37; }
    .frame, .leader { stroke: #6e7681; }
    .contour { stroke: #6db3f2; }
    .guide { stroke: #9198a1; }
    .bound { stroke: #e6edf3; }
    .point { fill: #0d1117; }
    .bar { fill: #6e7681; }
    .own { fill: #6db3f2; }
    .mark { fill: #ff8582; stroke: #0d1117; }
    .halo { stroke: #0d1117; }
    .series-0 { stroke: #6db3f2; } .series-1 { stroke: #f5a35c; } .series-2 { stroke: #6fce86; }
    .series-3 { stroke: #ff8582; } .series-4 { stroke: #bb9af0; } .series-5 { stroke: #cfa27f; }
    .series-6 { stroke: #f08fcb; } .series-7 { stroke: #5fd0d4; }
  }
</style>
)";

constexpr std::string_view name_of(Anchor anchor) {
  constexpr std::array<std::string_view, 3> kNames{"start", "middle", "end"};
  return kNames.at(static_cast<std::size_t>(anchor));
}

}  // namespace

Svg::Svg(double width, double height, std::string_view title)
    : text_(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
                        "height=\"{1}\" role=\"img\">\n<title>{2}</title>\n{3}"
                        "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n",
                        width, height, markup_text(title), kStyle)) {}

void Svg::line(Point from, Point to, std::string_view style) {
  text_ += fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                       style, from.x, from.y, to.x, to.y);
}

void Svg::curve(std::span<const Point> points, const Box& window, std::string_view style) {
  const int id = windows_++;
  text_ += fmt::format(
      "<clipPath id=\"window-{}\"><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
      "height=\"{:.1f}\"/></clipPath>\n",
      id, window.left, window.top, window.right - window.left, window.bottom - window.top);
  text_ += fmt::format("<polyline class=\"{}\" clip-path=\"url(#window-{})\" points=\"", style, id);
  for (const Point& point : points) text_ += fmt::format(" {:.1f},{:.1f}", point.x, point.y);
  text_ += "\"/>\n";
}

void Svg::dot(Point at, double radius, std::string_view style) {
  text_ +=
      fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>\n", style, at.x, at.y, radius);
}

void Svg::rectangle(const Box& box, std::string_view style) {
  text_ += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
                       style, box.left, box.top, box.right - box.left, box.bottom - box.top);
}

void Svg::text(Point at, Anchor anchor, std::string_view text, std::string_view style) {
  add_text(at, anchor, text, style, "");
}

void Svg::upward_text(Point at, std::string_view text, std::string_view style) {
  add_text(at, Anchor::Middle, text, style,
           fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", at.x, at.y));
}

std::string Svg::finish() {
  text_ += "</svg>\n";
  return std::move(text_);
}

void Svg::add_text(Point at, Anchor anchor, std::string_view text, std::string_view style,
                   std::string_view transform) {
  text_ += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", style,
                       at.x, at.y, name_of(anchor), transform, markup_text(text));
}

}  // namespace keysieve
