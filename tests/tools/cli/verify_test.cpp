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

class VerifyKnownAbsentKeys : public Verify {
 protected:
  const std::string list_ = write("absent.txt", numbered_lines(5'000, "absent"));
  const std::string with_ = build("with", numbered_lines(10'000), {"--known-absent", list_});
  const Words verify_{"verify", with_, "--keys", path("with.txt")};
};

TEST_F(VerifyKnownAbsentKeys, FindsThemAllAbsent) {
  const Words arguments = verify_ + Words{"--known-absent", list_};
  EXPECT_THAT(said(arguments),
              AllOf(HasSubstr("none of 10,000 keys"),
                    ContainsRegex("\nknown absent +all 5,000 keys absent, or in the set\n")));
  EXPECT_THAT(json(arguments), has({{"false_negatives", 0}, {"known_absent_keys", 5'000}}));
  EXPECT_FALSE(json(verify_).contains("known_absent_keys"));
}

// About one in a hundred other keys comes back as maybe.
TEST_F(VerifyKnownAbsentKeys, FailsForAListThatTheBuildDidNotHave) {
  const std::string other = write("other.txt", numbered_lines(5'000, "other"));
  EXPECT_THAT(
      refusal(65, verify_ + Words{"--known-absent", other}),
      AllOf(StartsWith(with_ + ": "), HasSubstr(" of 5,000 keys known to be absent from " + other),
            EndsWith("came back as maybe: the snapshot was not built with this list as --known-absent")));
  EXPECT_NE(refusal(65, {"verify", snapshot_, "--keys", path("tags.txt"), "--known-absent", list_}), "");
}

TEST_F(VerifyKnownAbsentKeys, FindsNoFaultWithKeysInBothLists) {
  const std::string both = write("both.txt", numbered_lines(10'000) + numbered_lines(5'000, "absent"));
  EXPECT_THAT(json(verify_ + Words{"--known-absent", both}), has({{"known_absent_keys", 15'000}}));
}

TEST_F(VerifyKnownAbsentKeys, ReadsThemFromStandardInputToo) {
  EXPECT_THAT(said(verify_ + Words{"--known-absent", "-"}, "absent1\nabsent2\n"),
              HasSubstr("all 2 keys absent"));
}

}  // namespace
}  // namespace keysieve::test
