#include "tools/plot/frame.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace keysieve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pointwise;

MATCHER(IsNear, "") {
  return std::abs(std::get<0>(arg) - std::get<1>(arg)) <= 1e-9 * std::abs(std::get<1>(arg));
}

void expect_ticks(const Axis& axis, const std::vector<double>& ticks) {
  EXPECT_THAT(axis.ticks(), Pointwise(IsNear(), ticks));
}

TEST(Axis, SpreadsALinearScaleEvenly) {
  const Axis axis(Scale::Linear, 10, 20, 100, 300);
  EXPECT_DOUBLE_EQ(axis.pixel(10), 100);
  EXPECT_DOUBLE_EQ(axis.pixel(15), 200);
  EXPECT_DOUBLE_EQ(axis.pixel(20), 300);
}

TEST(Axis, SpreadsTheDecadesOfALogarithmicScaleEvenly) {
  const Axis axis(Scale::Log, 1, 100, 0, 200);
  EXPECT_DOUBLE_EQ(axis.pixel(1), 0);
  EXPECT_DOUBLE_EQ(axis.pixel(10), 100);
  EXPECT_DOUBLE_EQ(axis.pixel(100), 200);
}

TEST(Axis, RunsInEitherDirection) {
  EXPECT_DOUBLE_EQ(Axis(Scale::Linear, 0, 10, 300, 100).pixel(2), 260);
  EXPECT_DOUBLE_EQ(Axis(Scale::Log, 0.1, 0.001, 0, 100).pixel(0.01), 50);
}

TEST(Axis, HasRoundLinearTicks) {
  expect_ticks({Scale::Linear, 0, 27, 0, 1}, {0, 5, 10, 15, 20, 25});
  expect_ticks({Scale::Linear, 0.5, 16.5, 0, 1}, {2, 4, 6, 8, 10, 12, 14, 16});
  expect_ticks({Scale::Linear, 0, 8, 0, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  expect_ticks({Scale::Linear, 90, 0, 0, 1}, {0, 20, 40, 60, 80});
}

TEST(Axis, HasAPowerOfTenAtEachTickOfALongLogarithmicScale) {
  expect_ticks({Scale::Log, 0.2, 1e-4, 0, 1}, {1e-4, 1e-3, 1e-2, 1e-1});
}

TEST(Axis, HasMultiplesOfPowersOfTenOnAShortLogarithmicScale) {
  expect_ticks({Scale::Log, 1900, 12000, 0, 1}, {2000, 3000, 5000, 10000});
  expect_ticks({Scale::Log, 1900, 3100, 0, 1}, {2000, 2500, 3000});
}

TEST(Axis, HasTicksAtItsEnds) {
  expect_ticks({Scale::Log, 0.1, 0.001, 0, 1}, {0.001, 0.01, 0.1});
  expect_ticks({Scale::Linear, 10, 20, 0, 1}, {10, 12, 14, 16, 18, 20});
}

TEST(Spread, LeavesPlacesThatAreFarApart) {
  EXPECT_THAT(spread({50, 10, 90}, 10, 0, 100), ElementsAre(50, 10, 90));
}

TEST(Spread, MovesOverlappingLabelsApart) {
  EXPECT_THAT(spread({12, 10, 11}, 10, 0, 100), ElementsAre(30, 10, 20));
}

TEST(Spread, StaysWithinTheEnds) {
  EXPECT_THAT(spread({99, 98, -5}, 10, 0, 100), ElementsAre(100, 90, 0));
}

TEST(Spread, KeepsTheOrderOfEquals) {
  EXPECT_THAT(spread({7, 7, 7}, 2, 0, 100), ElementsAre(7, 9, 11));
}

TEST(Spread, AcceptsNoLabels) {
  EXPECT_THAT(spread({}, 10, 0, 100), IsEmpty());
}

TEST(Ticks, WriteSharesInPercentWithoutAnExponent) {
  EXPECT_EQ(share_tick(0.5), "50 %");
  EXPECT_EQ(share_tick(1.0), "100 %");
  EXPECT_EQ(share_tick(0.01), "1 %");
  EXPECT_EQ(share_tick(0.025), "2.5 %");
  EXPECT_EQ(share_tick(0.0003), "0.03 %");
  EXPECT_EQ(share_tick(3e-7), "0.00003 %");
}

TEST(Ticks, WriteCountsWithThousands) {
  EXPECT_EQ(count_tick(0), "0");
  EXPECT_EQ(count_tick(12345.4), "12,345");
}

TEST(Ticks, AbbreviateMeasuredNumbers) {
  EXPECT_EQ(number_tick(0.25), "0.25");
  EXPECT_EQ(number_tick(-0.0), "0");
  EXPECT_EQ(number_tick(12345), "12,345");
  EXPECT_EQ(number_tick(1.5e6), "1.5 million");
}

TEST(Frame, PutsValuesIntoItsBox) {
  Svg svg(100, 100, "");
  const Frame frame(svg, {10, 20, 90, 80}, {Scale::Linear, 0, 8, 10, 90}, {Scale::Linear, 0, 6, 80, 20});
  EXPECT_DOUBLE_EQ(frame.at({4, 3}).x, 50);
  EXPECT_DOUBLE_EQ(frame.at({4, 3}).y, 50);
}

TEST(Frame, ShowsItsTitleAndTheNamesOfItsAxes) {
  Svg svg(100, 100, "");
  Frame frame(svg, {10, 20, 90, 80}, {Scale::Linear, 0, 8, 10, 90}, {Scale::Log, 0.1, 0.01, 80, 20});
  frame.draw("cost", "of everything", {"bits", count_tick}, {"FPR", share_tick});
  const std::string text = svg.finish();
  for (const char* words : {">cost<", ">of everything<", ">bits<", ">FPR<", ">8<", ">1 %<", ">10 %<"}) {
    EXPECT_THAT(text, HasSubstr(words));
  }
}

}  // namespace
}  // namespace keysieve
