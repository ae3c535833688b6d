// Maps: built from values, asked, checked, pushed and pulled.
#include <filesystem>

#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

class Map : public KeysieveProgram {
 protected:
  [[nodiscard]] std::string built(const Words& options, const std::string& name = "tiers") const {
    std::string snapshot = path(name + ".ks");
    const ProgramResult result = keysieve(Words{"build", "--set", name, "-o", snapshot} + options);
    EXPECT_EQ(result.exit_status, 0) << result.errors;  // it may warn that --like does not have the set
    return snapshot;
  }
  [[nodiscard]] std::string values(const std::string& text, const std::string& name = "values.tsv") const {
    return write(name, text);
  }
  // What query says of a key in the file.
  [[nodiscard]] std::string value(const std::string& snapshot, const std::string& key,
                                  const std::string& name = "tiers") const {
    const ProgramResult asked = keysieve({"query", "--file", snapshot, name, key});
    return asked.output.substr(0, asked.output.find('\n'));
  }
  static std::string numbered_values(int count, int offset = 0) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += "sku-" + std::to_string(i) + "\t" + std::to_string((i + offset) % 1'000) + "\n";
    }
    return text;
  }
  void expect_refused(int exit_status, const Words& options, const std::string& reason,
                      const std::string& input = "") const {
    const Words build{"build", "--set", "tiers", "-o", path("refused.ks")};
    EXPECT_THAT(refusal(exit_status, build + options, input), HasSubstr(reason));
    EXPECT_FALSE(std::filesystem::exists(path("refused.ks")));
  }
};

TEST_F(Map, HasTheValueOfEachKey) {
  const std::string list = values(numbered_values(5'000));
  const std::string map = built({"--values", list, "--fpr", "0.001"});
  EXPECT_EQ(value(map, "sku-0"), "0");
  EXPECT_EQ(value(map, "sku-1999"), "999");
  EXPECT_THAT(inspect(map), has({{"kind", "ribbon"}, {"key_count", 5'000}, {"value_bits", 10}}));
  EXPECT_THAT(said({"verify", map, "--values", list}), HasSubstr("none of 5,000 keys"));
  EXPECT_THAT(json({"query", "--file", map, "tiers", "sku-7"}).at("answers").at(0),
              has({{"answer", "7"}, {"value", 7}}));
}

TEST_F(Map, TakesTheValueFromTheColumnThatIsNamed) {
  const std::string list = values("a\tignored\t17\tx\nb\t?\t4294967295\n");
  const std::string map = built({"--values", list, "--value-column", "3"});
  EXPECT_EQ(value(map, "a"), "17");
  EXPECT_EQ(value(map, "b"), "4294967295");
  EXPECT_EQ(inspect(map).at("value_bits"), 32);
}

TEST_F(Map, ReadsValuesFromStandardInput) {
  const std::string map = path("piped.ks");
  static_cast<void>(said({"build", "--set", "tiers", "--values", "-", "-o", map}, "a\t1\nb\t2\na\t1\n"));
  EXPECT_EQ(value(map, "b"), "2");
  EXPECT_EQ(inspect(map).at("key_count"), 2) << "a key may come twice with one value";
}

TEST_F(Map, IsNotWhatAnotherListSays) {
  const std::string map = built({"--values", values(numbered_values(100))});
  const std::string other = values(numbered_values(100, 1), "other.tsv");
  EXPECT_THAT(refusal(65, {"verify", map, "--values", other}),
              HasSubstr("\"sku-0\" has the value 0, and not as"));
  const std::string set = build("tags", numbered_lines(10));
  EXPECT_THAT(refusal(65, {"verify", set, "--values", other}), HasSubstr("is no map"));
}

TEST_F(Map, RefusesWrongLinesAndShowsThem) {
  for (const auto& [text, reason] : std::vector<std::pair<std::string, std::string>>{
           {"a\t1\nb\n", "\"b\" has no column 2"},
           {"a\t1\n\t2\n", "\" 2\" has no key before its first TAB"},
           {"a\t4294967296\n", "which is not a number from 0 to 4294967295"},
           {"a\t-1\n", "the value \"-1\""},
           {"a\t1x\n", "the value \"1x\""},
           {"a\t\n", "the value \"\""},
           {"pear\t1\npear\t2\n", "\"pear\" has the values 1 and 2"},
       }) {
    expect_refused(65, {"--values", values(text)}, reason);
  }
  expect_refused(65, {"--values", "-"},
                 "standard input: a key, which a list in a file would show, has the values 1 and 2",
                 "pear\t1\npear\t2\n");
  expect_refused(65, {"--values", values("")}, "holds no keys");
  expect_refused(65, {"--values", values("\"a\"\t1\n\"b\"\t2\n")}, "lines are in quotes");
  expect_refused(65, {"--values", values("a\r\t1\n")}, "lines begin or end with a space");
  EXPECT_NE(built({"--values", values(" a\t1\n"), "--allow-suspect-keys"}), "");
}

TEST_F(Map, RefusesWhatCannotBe) {
  const std::string list = values(numbered_values(10));
  const std::string keys = write("keys.txt", "a\n");
  expect_refused(64, {}, "which keys? Give KEYFILE, or for a map --values");
  expect_refused(64, {keys, "--values", list}, "--values has the keys of a map");
  expect_refused(64, {"--values", list, "--kind", "bloom"}, "bloom cannot have values");
  expect_refused(64, {"--values", list, "--memory", "800M"}, "a map is built in memory");
  expect_refused(64, {"--values", list, "--value-column", "1"}, "out of range: 2 to 1000");
  expect_refused(64, {"--values", "-", "--known-absent", "-"}, "standard input can be one of the lists");
  EXPECT_THAT(refusal(64, {"verify", list, "--values", "-", "--absent", "-"}),
              HasSubstr("standard input can be one of the lists"));
}

// Values of 32 bits fill the shards, which leaves their FPR far below the target.
TEST_F(Map, TakesOtherShardsWhenItsOwnHaveNoRoomForMoreValues) {
  const auto build = [this](int keys) {
    return built({"--values", values(numbered_values(keys) + "last\t4294967295\n"), "--fpr", "0.3", "--like",
                  store()});
  };
  const std::string first = build(50'000);
  push(first);
  const auto shards = inspect(first).at("shard_count");
  EXPECT_EQ(inspect(build(50'200)).at("shard_count"), shards);
  EXPECT_GT(inspect(build(60'000)).at("shard_count"), shards);
}

TEST_F(Map, WouldNotReplaceItsLists) {
  const std::string list = values(numbered_values(10));
  EXPECT_THAT(refusal(64, {"build", "--set", "tiers", "--values", list, "-o", list}),
              HasSubstr("would overwrite"));
}

TEST_F(Map, GoesThroughAStoreAndKeepsItsShards) {
  const std::string first = built({"--values", values(numbered_values(5'000)), "--like", store()});
  push(first);
  const Words lifted{"--max-changed", "100%"};
  const std::string second =
      built(Words{"--values", values(numbered_values(5'000, 3)), "--like", store()} + lifted);
  EXPECT_EQ(keysieve(Words{"push", second, store()} + lifted).errors, "");
  EXPECT_EQ(inspect(second).at("shard_count"), inspect(first).at("shard_count"));
  static_cast<void>(pull(store(), "tiers"));
  EXPECT_EQ(value(path("pulled.ks"), "sku-0"), "3");
}

TEST_F(Map, IsRefusedWhenMostValuesHaveChanged) {
  push(built({"--values", values(numbered_values(5'000)), "--like", store()}));
  const Words changed{"--values", values(numbered_values(5'000, 1)), "--like", store()};
  expect_refused(65, changed, "has another value for 100 % of a sample of its keys, more than 50.0 %");
  const std::string map = built(changed + Words{"--max-changed", "100%"});
  EXPECT_THAT(refusal(65, {"push", map, store()}), HasSubstr("--max-changed sets that limit"));
  run({"push", map, store(), "--max-changed", "100%"});
}

TEST_F(Map, MayChangeSomeValuesAndLoseKeys) {
  push(built({"--values", values(numbered_values(5'000)), "--like", store()}));
  const std::string some = numbered_values(1'000, 1) + "new\t7\n";
  std::string rest = numbered_values(5'000);
  rest.erase(0, rest.find("sku-1000\t"));
  push(built({"--values", values(some + rest), "--like", store()}));
}

TEST_F(Map, WarnsWhenItsValuesNeedMoreBits) {
  push(built({"--values", values("a\t1\n"), "--like", store()}));
  const std::string wider = built({"--values", values("a\t2\n"), "--like", store()});
  EXPECT_THAT(keysieve({"push", wider, store()}).errors, HasSubstr("value bits changed from 1 to 2"));
}

TEST_F(Map, IsAskedInSharedMemory) {
  publish(built({"--values", values("a\t17\n")}));
  EXPECT_EQ(keysieve({"query", "tiers", "a"}).output, "17\n");
  EXPECT_EQ(keysieve({"query", "tiers", "b"}).output, "absent\n");
  const Json set = json({"status"}).at("sets").at(0);
  EXPECT_THAT(set, has({{"set", "tiers"}, {"value_bits", 5}}));
}

TEST_F(Map, IsPlannedByItsLargestValue) {
  const Json plan = json({"plan", "--keys", "450000", "--values", "65535", "--fpr", "0.1%"});
  EXPECT_EQ(plan.at("value_bits"), 16);
  ASSERT_EQ(plan.at("kinds").size(), 1U);
  EXPECT_LT(plan.at("kinds").at(0).at("bits_per_key"), 1.05 * plan.at("bound_bits_per_key").get<double>());
  EXPECT_THAT(said({"plan", "--keys", "1000", "--values", "0"}), HasSubstr("with values of 1 bit"));
  EXPECT_THAT(refusal(64, {"plan", "--keys", "1000", "--values", "4294967296"}), HasSubstr("out of range"));
}

}  // namespace
}  // namespace keysieve::test
