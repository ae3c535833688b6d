#include "tools/bench/report/part.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "core/base/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class APart : public ::testing::Test {
 protected:
  Part read(const std::string& json) {
    std::ofstream(folder_ / "php.json") << json;
    return read_part(folder_ / "php.json");
  }
  void expect_refused(const std::string& json, const std::string& reason) {
    EXPECT_THAT(test::message_of<ErrorKind::Data>([&] { read(json); }),
                AllOf(HasSubstr("php.json"), HasSubstr(reason)))
        << json;
  }

  test::TemporaryDirectory folder_;
};

TEST_F(APart, IsReadWithTablesPlotsChecksAndSettings) {
  const Part part = read(R"({
    "settings": ["apcu 5"],
    "tables": [{"title": "cost", "columns": ["method", "ns"], "rows": [["ours", "5"]]}],
    "plots": [
      {"file": "lines", "title": "growth", "x": {"title": "keys", "scale": "log"}, "y": {"title": "ns"},
       "series": [{"name": "ours", "points": [[10, 1.5], [100, 2]]}]},
      {"file": "bars", "title": "methods", "note": "of 20", "bars": {"title": "ns", "rows": [["ours", 5]]}}],
    "checks": [{"aim": "faster", "wanted": "5", "measured": "6", "reached": true}]})");
  EXPECT_THAT(part.settings, ElementsAre("apcu 5"));
  ASSERT_EQ(part.tables.size(), 1U);
  EXPECT_THAT(part.tables[0].rows, ElementsAre(ElementsAre("ours", "5")));
  ASSERT_EQ(part.plots.size(), 2U);
  EXPECT_EQ(part.plots[0].name, "lines");
  EXPECT_THAT(part.plots[0].svg, HasSubstr(">growth<"));
  EXPECT_THAT(part.plots[1].svg, HasSubstr(">of 20<"));
  ASSERT_EQ(part.checks.size(), 1U);
  EXPECT_TRUE(part.checks[0].reached);
}

TEST_F(APart, MayLackWhatItHasNotMeasured) {
  const Part part = read("{}");
  EXPECT_TRUE(part.tables.empty() && part.plots.empty() && part.checks.empty() && part.settings.empty());
}

TEST_F(APart, IsRefusedWithTheFileAndTheReason) {
  expect_refused("{", "parse error");
  expect_refused(R"({"tables": [{"title": "cost"}]})", "columns");
  expect_refused(R"({"tables": [{"title": "cost", "columns": ["a"], "rows": [["b", "c"]]}]})",
                 "row of other length in table: cost");
  expect_refused(R"({"plots": [{"file": "f", "title": "t", "bars": {"title": "ns", "rows": []}}]})",
                 "plot without bars: t");
  expect_refused(R"({"plots": [{"file": "f", "title": "t", "x": {"title": "", "scale": "cubic"}}]})",
                 "cubic");
  EXPECT_THAT([&] { read_part(folder_ / "no.json"); }, test::fails(ErrorKind::MissingInput));
}

}  // namespace
}  // namespace keysieve
