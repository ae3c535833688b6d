#include "tools/loader/http/page/html_text.hpp"

#include <gtest/gtest.h>

namespace keysieve::test {
namespace {

TEST(HtmlText, SaysHowLongAgoAndWhen) {
  EXPECT_EQ(html_ago(0, 1'700'000'000), "–");
  EXPECT_EQ(html_ago(1'700'000'000, 1'700'000'090),
            "<time datetime=\"2023-11-14T22:13:20Z\" title=\"2023-11-14T22:13:20Z\">1m 30s ago</time>");
  EXPECT_EQ(html_ago(1'700'000'005, 1'700'000'000),
            "<time datetime=\"2023-11-14T22:13:25Z\" title=\"2023-11-14T22:13:25Z\">now</time>");
}

TEST(HtmlText, WritesShortTimesAndChanges) {
  EXPECT_EQ(format_seconds(0.0004), "< 1 ms");
  EXPECT_EQ(format_seconds(0.0123), "12 ms");
  EXPECT_EQ(format_seconds(1.44), "1.4 s");
  EXPECT_EQ(format_change(0.0321), "+3.2 %");
  EXPECT_EQ(format_change(-0.7), "−70.0 %");
}

}  // namespace
}  // namespace keysieve::test
