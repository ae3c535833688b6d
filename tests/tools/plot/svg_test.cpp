#include "tools/plot/svg.hpp"

#include <gmock/gmock.h>

#include <array>

namespace keysieve {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Svg, IsAFileOfTheGivenSize) {
  Svg svg(640, 480, "a plot");
  const std::string text = svg.finish();
  EXPECT_THAT(text, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 480\" "
                               "width=\"640\" height=\"480\""));
  EXPECT_THAT(text, HasSubstr("<title>a plot</title>"));
  EXPECT_THAT(text, EndsWith("</svg>\n"));
}

TEST(Svg, HasStylesForLightAndDarkPages) {
  EXPECT_THAT(Svg(1, 1, "").finish(), HasSubstr("@media (prefers-color-scheme: dark)"));
}

TEST(Svg, EscapesTexts) {
  Svg svg(1, 1, "a < b");
  svg.text({1, 2}, Anchor::End, "p & q > r", "tick");
  const std::string text = svg.finish();
  EXPECT_THAT(text, HasSubstr("<title>a &lt; b</title>"));
  EXPECT_THAT(
      text,
      HasSubstr("<text class=\"tick\" x=\"1.0\" y=\"2.0\" text-anchor=\"end\">p &amp; q &gt; r</text>"));
}

TEST(Svg, DrawsShapesOfAStyle) {
  Svg svg(9, 9, "");
  svg.line({1, 2}, {3, 4}, "grid");
  svg.dot({5, 6}, 6, "mark");
  svg.rectangle({1, 2, 4, 8}, "bar");
  svg.upward_text({7, 8}, "k", "axis");
  const std::string text = svg.finish();
  EXPECT_THAT(text, HasSubstr("<line class=\"grid\" x1=\"1.0\" y1=\"2.0\" x2=\"3.0\" y2=\"4.0\"/>"));
  EXPECT_THAT(text, HasSubstr("<circle class=\"mark\" cx=\"5.0\" cy=\"6.0\""));
  EXPECT_THAT(text, HasSubstr("transform=\"rotate(-90 7.0 8.0)\">k</text>"));
}

TEST(Svg, CutsEachCurveOffAtItsWindow) {
  Svg svg(100, 100, "");
  const std::array<Point, 2> points{{{0, 0}, {200, 50}}};
  svg.curve(points, {10, 10, 90, 60}, "curve");
  svg.curve(points, {0, 0, 5, 5}, "bound");
  const std::string text = svg.finish();
  EXPECT_THAT(
      text,
      HasSubstr("<clipPath id=\"window-0\"><rect x=\"10.0\" y=\"10.0\" width=\"80.0\" height=\"50.0\"/>"));
  EXPECT_THAT(
      text,
      HasSubstr("<polyline class=\"curve\" clip-path=\"url(#window-0)\" points=\" 0.0,0.0 200.0,50.0\"/>"));
  EXPECT_THAT(text, HasSubstr("<polyline class=\"bound\" clip-path=\"url(#window-1)\""));
}

}  // namespace
}  // namespace keysieve
