#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

using ::testing::MatchesRegex;

using Inspect = KeysieveProgram;

TEST_F(Inspect, ShowsTheHeaderOfASnapshot) {
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

TEST_F(Inspect, ShowsTheSameAsJson) {
  const std::string snapshot = build("tags", numbered_lines(20'000),
                                     {"--as-of", "@1700000000", "--valid-for", "2d", "--key-profile", "nfkc",
                                      "--shard-size", "2KiB", "--kind", "bloom", "--fpr", "0.1%"});
  const Json report = inspect(snapshot);
  EXPECT_THAT(report, has({{"file", snapshot},
                           {"format", 1},
                           {"set", "tags"},
                           {"kind", "bloom"},
                           {"key_count", 20'000},
                           {"bytes", read(snapshot).size()},
                           {"target_fpr", 0.001},
                           {"as_of", 1'700'000'000},
                           {"valid_for_seconds", 172'800},
                           {"key_profile", "nfkc"}}));
  EXPECT_THAT(report.at("build_id").get<std::string>(), MatchesRegex("[0-9a-f]{32}"));
  EXPECT_THAT(report.at("seed").get<std::string>(), MatchesRegex("[0-9a-f]{32}"));
  EXPECT_GE(report.at("built_at"), 1'700'000'000);
  EXPECT_GT(report.at("shard_count"), 1);
  EXPECT_NEAR(report.at("estimated_fpr"), 0.001, 0.0002);
  EXPECT_NEAR(report.at("fill_ratio"), 0.5, 0.02);
  const double mean = report.at("keys_per_shard").at("mean");
  EXPECT_NEAR(mean, 20'000.0 / report.at("shard_count").get<double>(), 0.01);
  for (const auto& [spread, middle] :
       {std::pair{"keys_per_shard", "mean"}, {"shard_fill_ratios", "median"}}) {
    EXPECT_LE(report.at(spread).at("least"), report.at(spread).at(middle));
    EXPECT_GE(report.at(spread).at("most"), report.at(spread).at(middle));
  }
}

TEST_F(Inspect, ShowsKnownAbsentKeysAndTheRoomForThemInEachShard) {
  const std::string list = write("absent.txt", numbered_lines(50'000, "absent"));
  const std::string snapshot = build("tags", numbered_lines(5'000), {"--known-absent", list});
  const Json report = inspect(snapshot);
  EXPECT_THAT(report, has({{"key_count", 5'000}, {"known_absent_count", 50'000}, {"shard_bytes", 4'096}}));
  const int retrieval_bytes = report.at("retrieval_bytes");
  EXPECT_GT(retrieval_bytes, 0);
  const int shards = report.at("shard_count");
  EXPECT_GT(report.at("bytes"), shards * (4'096 + retrieval_bytes));
  EXPECT_LT(report.at("bytes"), shards * (4'096 + retrieval_bytes) + 3 * 4'096);
  EXPECT_THAT(said({"inspect", snapshot}),
              AllOf(ContainsRegex("\nknown absent +50,000 keys\n"),
                    ContainsRegex("\nshards +" + std::to_string(shards) + " of [45]\\.[0-9] KiB\n"),
                    Not(HasSubstr(" of 4.0 KiB"))));
}

TEST_F(Inspect, ShowsWhatWasNotGiven) {
  EXPECT_THAT(said({"inspect", build("tags", "a\n")}),
              AllOf(ContainsRegex("valid for +no limit\n"), Not(HasSubstr("known absent")),
                    ContainsRegex("key profile +none\n")));
}

TEST_F(Inspect, ShowsWhereTheLayerBeginsInTheAddsLog) {
  const std::string without = build("tags", "a\n");
  EXPECT_THAT(said({"inspect", without}), ContainsRegex("adds from +0-0, the whole log\n"));
  EXPECT_EQ(inspect(without).at("adds_from"), "0-0");
  const std::string with = build("tags", "a\n", {"--adds-from", "1700000000123-4"});
  EXPECT_THAT(said({"inspect", with}), ContainsRegex("adds from +1700000000123-4, 2023-11-14T22:13:20Z\n"));
  EXPECT_EQ(inspect(with).at("adds_from"), "1700000000123-4");
  const std::string last = "18446744073709551615-18446744073709551615";
  EXPECT_THAT(said({"inspect", build("tags", "a\n", {"--adds-from", last})}),
              ContainsRegex("adds from +" + last + "\n"));
}

}  // namespace
}  // namespace keysieve::test
