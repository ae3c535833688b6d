#include "tools/program/markup_text.hpp"

#include <gtest/gtest.h>

namespace keysieve::test {
namespace {

TEST(MarkupText, LeavesNothingThatCouldBeMarkup) {
  EXPECT_EQ(markup_text("<b a='1' c=\"2\">&amp;</b>"),
            "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;amp;&lt;/b&gt;");
  EXPECT_EQ(markup_text("猫 and dogs"), "猫 and dogs");
}

}  // namespace
}  // namespace keysieve::test
