#include "tools/plot/measured_plot.hpp"

#include <gmock/gmock.h>

namespace keysieve {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Ends = std::pair<double, double>;

TEST(AxisEnds, AreRoundAndBeginAtZeroWhenLinear) {
  EXPECT_EQ(ends_of(Scale::Linear, 3, 17), Ends(0, 20));
  EXPECT_EQ(ends_of(Scale::Linear, 3, 50), Ends(0, 50));
  EXPECT_EQ(ends_of(Scale::Linear, -3, 50), Ends(-3, 50));
  EXPECT_EQ(ends_of(Scale::Linear, 0, 0), Ends(0, 1));
}

TEST(AxisEnds, AreRoundAndApartWhenLogarithmic) {
  EXPECT_EQ(ends_of(Scale::Log, 3, 1700), Ends(2, 2000));
  EXPECT_EQ(ends_of(Scale::Log, 10, 10), Ends(10, 20));
}

TEST(LinePlotSvg, ShowsEveryLineWithItsNameAndItsPoints) {
  const std::string svg =
      line_plot_svg({.title = "cost",
                     .note = "of lookups",
                     .x = {"keys", Scale::Log},
                     .y = {"ns"},
                     .lines = {{"ours", {{1000, 5}, {10000, 6}}}, {"theirs", {{1000, 50}}}}});
  for (const char* words :
       {">cost<", ">of lookups<", ">keys (logarithmic)<", ">ns<", ">ours<", ">theirs<", ">10,000<"}) {
    EXPECT_THAT(svg, HasSubstr(words));
  }
  EXPECT_THAT(svg, HasSubstr("point curve series-1"));
}

TEST(LinePlotSvg, ShowsASinglePoint) {
  const std::string svg =
      line_plot_svg({.x = {"", Scale::Log}, .y = {"", Scale::Log}, .lines = {{"a", {{7, 7}}}}});
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(BarPlotSvg, ShowsEveryValueAndHighlightsKeysieve) {
  const std::string svg = bar_plot_svg(
      {.title = "cost", .values = {"ns"}, .bars = {{"keysieve, batch", 30.5}, {"apcu_exists", 1234}}});
  for (const char* words :
       {">keysieve, batch<", ">30.5<", ">apcu_exists<", ">1,234<", "class=\"own\"", "class=\"bar\""}) {
    EXPECT_THAT(svg, HasSubstr(words));
  }
}

}  // namespace
}  // namespace keysieve
