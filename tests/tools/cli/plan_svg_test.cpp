// keysieve plan --svg. That the picture is well-formed and no text covers another, php-tests/PlanSvgTest.php
// checks.
#include <filesystem>

#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

class PlanSvg : public KeysieveProgram {
 protected:
  [[nodiscard]] std::string svg(const Words& options = {}) const {
    run(Words{"plan", "--keys", "80000", "--svg", path("fpr.svg")} + options);
    return read(path("fpr.svg"));
  }
};

TEST_F(PlanSvg, IsOnePictureThatNeedsNothingElse) {
  const std::string picture = svg();
  EXPECT_THAT(picture, AllOf(StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""), EndsWith("</svg>\n"),
                             HasSubstr("prefers-color-scheme: dark"), Not(HasSubstr("href")),
                             Not(HasSubstr("@import")), Not(HasSubstr("<script"))));
}

TEST_F(PlanSvg, NamesEveryKindAndTheBound) {
  const std::string picture = svg();
  const Json plan = json({"plan", "--keys", "80000", "--all"});
  for (const Json& kind : plan.at("kinds")) {
    EXPECT_THAT(picture, HasSubstr(">" + kind.at("kind").get<std::string>() + "</text>"));
  }
  EXPECT_THAT(picture, HasSubstr(">bound</text>"));
}

TEST_F(PlanSvg, IsOfTheShardSizeAndTargetThatWereAskedFor) {
  EXPECT_THAT(svg({"--shard-size", "2KiB", "--fpr", "2%"}),
              AllOf(HasSubstr(">FPR of bloom in shards of 2.0 KiB<"), HasSubstr("the target, 2 %."),
                    HasSubstr(">2 %</text>")));
}

TEST_F(PlanSvg, MarksWhatIsPlanned) {
  EXPECT_THAT(svg(),
              AllOf(HasSubstr("Dot: planned: 3,333 keys with k = 7."), HasSubstr("<circle class=\"mark\"")));
}

TEST_F(PlanSvg, SaysWhereThePlanIsWhenItIsOutOfThePicture) {
  run({"plan", "--keys", "3", "--svg", path("few.svg")});
  EXPECT_THAT(read(path("few.svg")),
              AllOf(HasSubstr("Planned, further left: 3 keys"), Not(HasSubstr("<circle"))));
}

TEST_F(PlanSvg, HoldsPlainNumbersAtTheEndsOfTheRange) {
  for (const Words& options :
       {Words{"--fpr", "1e-9", "--shard-size", "8KiB"}, Words{"--fpr", "1e-9", "--shard-size", "1KiB"},
        Words{"--fpr", "0.000001", "--shard-size", "8KiB"}, Words{"--fpr", "0.5", "--shard-size", "1KiB"}}) {
    const std::string picture = svg(options);
    const std::string shapes = picture.substr(picture.find("</style>"));
    for (const char* wrong : {"nan", "inf", "e-", "e+"}) {
      EXPECT_EQ(shapes.find(wrong), std::string::npos) << options[1] << ": " << wrong;
    }
  }
}

TEST_F(PlanSvg, PrintsThePlanAsWithoutIt) {
  EXPECT_EQ(said({"plan", "--keys", "9", "--svg", path("fpr.svg")}), said({"plan", "--keys", "9"}));
  EXPECT_EQ(json({"plan", "--keys", "9", "--svg", path("fpr.svg")}), json({"plan", "--keys", "9"}));
}

TEST_F(PlanSvg, WritesNothingForAPlanThatIsRefused) {
  expect_refusals(64, {{"plan --keys 9 --fpr 0.6 --svg " + path("fpr.svg"), "1e-9 to 0.5"}});
  EXPECT_FALSE(std::filesystem::exists(path("fpr.svg")));
}

}  // namespace
}  // namespace keysieve::test
