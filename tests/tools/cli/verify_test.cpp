#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

class Verify : public KeysieveProgram {
 protected:
  const std::string snapshot_ = build("tags", numbered_lines(10'000));
};

TEST_F(Verify, FindsNoFalseNegative) {
  EXPECT_THAT(said({"verify", snapshot_, "--keys", path("tags.txt")}), HasSubstr("none of 10,000 keys"));
  EXPECT_EQ(json({"verify", snapshot_, "--keys", path("tags.txt")}).at("false_negatives"), 0);
}

TEST_F(Verify, MeasuresTheFalsePositiveRate) {
  std::string others;
  for (int i = 0; i < 20'000; ++i) others += "other" + std::to_string(i) + "\n";
  const Json report =
      json({"verify", snapshot_, "--keys", path("tags.txt"), "--absent", write("other.txt", others)});
  EXPECT_EQ(report.at("absent_keys"), 20'000);
  EXPECT_EQ(report.at("target_fpr"), 0.01);
  const double estimated = report.at("estimated_fpr");
  // Five standard deviations of 20,000 tries at 1 %.
  EXPECT_NEAR(report.at("measured_fpr"), estimated, 0.0036);
}

// One in a hundred strangers is taken for a key, all six are not.
TEST_F(Verify, FailsWhenTheSnapshotIsOfOtherKeys) {
  EXPECT_THAT(refusal(65, {"verify", snapshot_, "--keys",
                           write("more.txt", numbered_lines(10'000) + "猫\n犬\n鳥\n魚\n虫\n草\n")}),
              AllOf(HasSubstr(snapshot_ + ": "),
                    HasSubstr(" of 10,006 keys from " + path("more.txt") + " came back as absent")));
}

TEST_F(Verify, ReadsKeysFromStandardInputToo) {
  EXPECT_THAT(said({"verify", snapshot_, "--keys", "-"}, "w0\nw1\n"), HasSubstr("none of 2 keys"));
  EXPECT_THAT(said({"verify", snapshot_, "--keys", "-", "--allow-cr"}, "w0\r\nw1\r\n"),
              HasSubstr("none of 2 keys"));
  EXPECT_THAT(said({"verify", snapshot_, "--keys", "-", "-0"}, std::string("w0\0w1", 5)),
              HasSubstr("none of 2 keys"));
}

TEST_F(Verify, RefusesListsWithoutKeys) {
  const std::string nothing = write("nothing.txt", "\n");
  EXPECT_EQ(refusal(65, {"verify", snapshot_, "--keys", nothing}), nothing + ": holds no keys");
  EXPECT_EQ(refusal(65, {"verify", snapshot_, "--keys", path("tags.txt"), "--absent", nothing}),
            nothing + ": holds no keys");
}

TEST_F(Verify, TakesAListWithoutKeysForAnEmptySet) {
  EXPECT_THAT(said({"verify", build("empty", "", {"--min-keys", "0"}), "--keys", path("empty.txt")}),
              HasSubstr("none of 0 keys"));
}

}  // namespace
}  // namespace keysieve::test
