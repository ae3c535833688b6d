#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Plan : public KeysieveProgram {
 protected:
  [[nodiscard]] Words kinds(Words options = {}) const {
    Words arguments{"plan", "--keys", "80000"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Json plan = json(arguments);
    Words names;
    for (const Json& kind : plan.at("kinds")) names.push_back(kind.at("kind"));
    return names;
  }
};

TEST_F(Plan, RecommendsTheDefaultKindFirst) {
  const std::string text = said({"plan", "--keys", "80000", "--fpr", "0.01"});
  EXPECT_THAT(text, AllOf(HasSubstr("80,000 keys at a target FPR of 1.00 %, in shards of 4.0 KiB:"),
                          HasSubstr("\n* ")));
  EXPECT_LT(text.find("split_block_bloom"), text.find(" bloom "));
  EXPECT_THAT(kinds(), ElementsAre("split_block_bloom", "bloom", "cuckoo"));
}

TEST_F(Plan, ShowsEveryKindWhenAsked) {
  EXPECT_THAT(kinds({"--all"}), ElementsAre("split_block_bloom", "bloom", "partitioned_bloom",
                                            "blocked_bloom", "cuckoo", "xor", "binary_fuse", "ribbon"));
}

TEST_F(Plan, ShowsTheSmallestKindForASetThatNothingIsAddedTo) {
  EXPECT_THAT(kinds({"--static"}), ElementsAre("split_block_bloom", "bloom", "cuckoo", "ribbon"));
  const Json shown = json({"plan", "--keys", "10000000", "--static"}).at("kinds");
  const Json& smallest = shown.back();
  EXPECT_EQ(smallest.at("can_add"), false);
  EXPECT_LT(smallest.at("bits_per_key"), 6.75);
  EXPECT_LE(json({"plan", "--keys", "10000000", "--static", "--effort", "max"})
                .at("kinds")
                .back()
                .at("bits_per_key"),
            smallest.at("bits_per_key"));
}

TEST_F(Plan, SaysWhatEachKindCosts) {
  const Json plan = json({"plan", "--keys", "80000", "--fpr", "0.1%", "--shard-size", "8KiB"});
  EXPECT_EQ(plan.at("keys"), 80'000);
  EXPECT_EQ(plan.at("target_fpr"), 0.001);
  EXPECT_EQ(plan.at("shard_bytes"), 8192);
  EXPECT_EQ(plan.at("growth"), 1.0);
  for (const Json& kind : plan.at("kinds")) {
    EXPECT_LE(kind.at("theoretical_fpr"), 0.001);
    EXPECT_GT(kind.at("bits_per_key"), 9.97);  // log2(1/0.001) is 9.97
    EXPECT_LT(kind.at("bits_per_key"), 20.0);
    EXPECT_GE(kind.at("bytes"), kind.at("shard_count").get<int>() * 8192);
    for (const char* name : {"recommended", "hash_count", "can_add", "can_remove", "summary"}) {
      EXPECT_TRUE(kind.contains(name)) << name;
    }
  }
}

TEST_F(Plan, IsWhatBuildDoes) {
  const Json planned =
      json({"plan", "--keys", "5000", "--fpr", "0.02", "--shard-size", "1KiB", "--growth", "1.5"});
  const Json built = json({"inspect", build("tags", numbered_lines(5000),
                                            {"--fpr", "0.02", "--shard-size", "1KiB", "--growth", "1.5"})});
  EXPECT_EQ(planned.at("kinds").at(0).at("shard_count"), built.at("shard_count"));
  EXPECT_EQ(planned.at("kinds").at(0).at("bytes"), built.at("bytes"));
}

TEST_F(Plan, MakesRoomForGrowth) {
  EXPECT_THAT(said({"plan", "--keys", "100", "--growth", "2"}), HasSubstr("with room for 2 times the keys"));
  EXPECT_THAT(said({"plan", "--keys", "100"}), Not(HasSubstr("room")));
  EXPECT_GT(json({"plan", "--keys", "80000", "--growth", "2"})["kinds"][0]["bytes"],
            json({"plan", "--keys", "80000"})["kinds"][0]["bytes"]);
}

TEST_F(Plan, RecommendsTheKindThatCanRemoveKeys) {
  EXPECT_THAT(kinds({"--deletes"}), ElementsAre("cuckoo"));
  EXPECT_EQ(json({"plan", "--keys", "100", "--deletes"}).at("kinds").at(0).at("recommended"), true);
}

TEST_F(Plan, RefusesWhatIsOutOfRange) {
  EXPECT_THAT(refusal(64, {"plan", "--keys", "0"}), HasSubstr("--keys must be at least 1"));
  EXPECT_THAT(refusal(64, {"plan", "--keys", "9223372036854775807"}), HasSubstr("4294967295 shards"));
  EXPECT_THAT(refusal(64, {"plan", "--keys", "9", "--fpr", "0.6"}), HasSubstr("0.000001 to 0.5"));
  EXPECT_THAT(refusal(64, {"plan", "--keys", "9", "--fpr", "0"}), HasSubstr("0.000001 to 0.5"));
  EXPECT_THAT(refusal(64, {"plan", "--keys", "9", "--growth", "0.9"}), HasSubstr("1 to 100"));
  EXPECT_THAT(refusal(64, {"plan", "--keys", "9", "--growth", "101"}), HasSubstr("1 to 100"));
  EXPECT_THAT(refusal(64, {"plan", "--keys", "9", "--growth", "nan"}), HasSubstr("1 to 100"));
  EXPECT_THAT(refusal(64, {"plan", "--keys", "9", "--effort", "most"}), HasSubstr("normal or max"));
  EXPECT_THAT(refusal(64, {"plan", "--keys", "9", "--shard-size", "16KiB"}),
              HasSubstr("1KiB, 2KiB, 4KiB or 8KiB"));
}

}  // namespace
}  // namespace keysieve::test
