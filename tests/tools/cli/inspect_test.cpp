#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

using Inspect = KeysieveProgram;

TEST_F(Inspect, ShowsWhatTheSnapshotSaysOfItself) {
  const std::string snapshot =
      build("tags", numbered_lines(20'000),
            {"--as-of", "2023-11-14T22:13:20Z", "--valid-for", "2d", "--key-profile", "nfkc, lower case"});
  EXPECT_THAT(
      said({"inspect", snapshot}),
      AllOf(HasSubstr(snapshot + ", all checksums right"), ContainsRegex("set +tags\n"),
            ContainsRegex("kind +split_block_bloom, k = 8\n"), ContainsRegex("keys +20,000 distinct\n"),
            ContainsRegex("target FPR +1.00 %\n"), ContainsRegex("as of +2023-11-14T22:13:20Z\n"),
            ContainsRegex("valid for +2d, until 2023-11-16T22:13:20Z\n"),
            ContainsRegex("key profile +nfkc, lower case\n")));
}

TEST_F(Inspect, SaysTheSameAsJson) {
  const std::string snapshot = build("tags", numbered_lines(20'000),
                                     {"--as-of", "@1700000000", "--valid-for", "2d", "--key-profile", "nfkc",
                                      "--shard-size", "2KiB", "--kind", "bloom", "--fpr", "0.1%"});
  const Json report = json({"inspect", snapshot});
  EXPECT_EQ(report.at("file"), snapshot);
  EXPECT_EQ(report.at("format"), 1);
  EXPECT_EQ(report.at("set"), "tags");
  EXPECT_THAT(report.at("build_id").get<std::string>(), MatchesRegex("[0-9a-f]{32}"));
  EXPECT_EQ(report.at("kind"), "bloom");
  EXPECT_EQ(report.at("key_count"), 20'000);
  EXPECT_EQ(report.at("bytes"), read(snapshot).size());
  EXPECT_GT(report.at("shard_count"), 1);
  EXPECT_EQ(report.at("target_fpr"), 0.001);
  EXPECT_NEAR(report.at("estimated_fpr"), 0.001, 0.0002);
  EXPECT_NEAR(report.at("fill_ratio"), 0.5, 0.02);
  EXPECT_NEAR(report.at("keys_per_shard").at("mean"), 20'000.0 / report.at("shard_count").get<double>(),
              0.01);
  EXPECT_LE(report.at("keys_per_shard").at("least"), report.at("keys_per_shard").at("mean"));
  EXPECT_GE(report.at("keys_per_shard").at("most"), report.at("keys_per_shard").at("mean"));
  EXPECT_LE(report.at("shard_fill_ratios").at("least"), report.at("shard_fill_ratios").at("median"));
  EXPECT_GE(report.at("shard_fill_ratios").at("most"), report.at("shard_fill_ratios").at("median"));
  EXPECT_THAT(report.at("seed").get<std::string>(), MatchesRegex("[0-9a-f]{16}"));
  EXPECT_EQ(report.at("as_of"), 1'700'000'000);
  EXPECT_GE(report.at("built_at"), 1'700'000'000);
  EXPECT_EQ(report.at("valid_for_seconds"), 172'800);
  EXPECT_EQ(report.at("key_profile"), "nfkc");
}

TEST_F(Inspect, SaysWhatWasNotGiven) {
  EXPECT_THAT(said({"inspect", build("tags", "a\n")}),
              AllOf(ContainsRegex("valid for +no limit\n"), ContainsRegex("key profile +none\n")));
}

TEST_F(Inspect, ShowsWhereTheLayerBeginsInTheAddsLog) {
  const std::string without = build("tags", "a\n");
  EXPECT_THAT(said({"inspect", without}), ContainsRegex("adds from +0-0, the whole log\n"));
  EXPECT_EQ(json({"inspect", without}).at("adds_from"), "0-0");
  const std::string with = build("tags", "a\n", {"--adds-from", "1700000000123-4"});
  EXPECT_THAT(said({"inspect", with}), ContainsRegex("adds from +1700000000123-4, 2023-11-14T22:13:20Z\n"));
  EXPECT_EQ(json({"inspect", with}).at("adds_from"), "1700000000123-4");
  const std::string last = "18446744073709551615-18446744073709551615";
  EXPECT_THAT(said({"inspect", build("tags", "a\n", {"--adds-from", last})}),
              ContainsRegex("adds from +" + last + "\n"));
}

TEST_F(Inspect, NamesAFileThatIsMissingOrAFolder) {
  EXPECT_EQ(refusal(66, {"inspect", path("none.ks")}), path("none.ks") + ": No such file or directory");
  EXPECT_EQ(refusal(66, {"inspect", shared_memory()}), shared_memory() + ": Is a directory");
}

}  // namespace
}  // namespace keysieve::test
