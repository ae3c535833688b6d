#include "tools/plot/frame.hpp"

#include <gmock/gmock.h>

namespace keysieve {
namespace {

using ::testing::HasSubstr;

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

TEST(Ticks, WriteMeasuredNumbersShortly) {
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

TEST(Frame, NamesItselfAndItsAxes) {
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
