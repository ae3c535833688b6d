#include "tools/bench/report/page.hpp"

#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

TEST(ThePage, HoldsTablesWithTheFirstColumnToTheLeft) {
  const Part part{.settings = {},
                  .tables = {{"cost", {"method", "ns"}, {{"ours", "5"}, {"theirs", "50"}}}},
                  .plots = {},
                  .checks = {}};
  EXPECT_EQ(tables_markdown(part),
            "**cost**\n\n| method | ns |\n|---|---:|\n| ours | 5 |\n| theirs | 50 |\n");
}

TEST(ThePage, SaysOfEachAimWhetherItWasReached) {
  const Part part{.settings = {},
                  .tables = {},
                  .plots = {},
                  .checks = {{"faster", "≥ 5", "5.6", true}, {"smaller", "≤ 1", "2", false}}};
  EXPECT_EQ(checks_markdown(part),
            "| aim | wanted | measured | reached |\n|---|---:|---:|---:|\n"
            "| faster | ≥ 5 | 5.6 | yes |\n| smaller | ≤ 1 | 2 | **no** |\n");
}

TEST(ThePage, ShowsPlotsAndSettings) {
  const Part part{.settings = {"apcu 5"}, .tables = {}, .plots = {{"cost", "php", "<svg/>"}}, .checks = {}};
  EXPECT_EQ(plots_markdown(part, "benchmarks"), "![cost](benchmarks/php.svg)\n");
  EXPECT_EQ(settings_markdown(part), "- apcu 5\n");
}

TEST(ATemplate, IsFilledInWhereItHasPlaces) {
  const auto upper = [](std::string_view word) { return "<" + std::string(word) + ">"; };
  EXPECT_EQ(fill_in("a {{b}}{{c.d}} e", upper), "a <b><c.d> e");
  EXPECT_EQ(fill_in("no place", upper), "no place");
  EXPECT_THAT([&] { fill_in("a {{b", upper); }, test::fails(ErrorKind::Data));
}

}  // namespace
}  // namespace keysieve
