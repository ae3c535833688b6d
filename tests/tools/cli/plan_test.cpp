#include <regex>
#include <set>

#include "core/builder/filters/sizing.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

class Plan : public KeysieveProgram {
 protected:
  // The plan for so many keys, with further options.
  [[nodiscard]] Json plan(const std::string& keys, const Words& options = {}) const {
    return json(Words{"plan", "--keys", keys} + options);
  }
  // The names of its kinds.
  static Words kinds_of(const Json& plan) {
    Words names;
    for (const Json& kind : plan.at("kinds")) names.push_back(kind.at("kind"));
    return names;
  }
  // The names of the kinds for which `is_wanted` is true, in the order of the registry.
  template <typename IsWanted>
  static Words kinds_that(IsWanted is_wanted) {
    Words names;
    for (const FilterKind& kind : filter_kinds())
      if (is_wanted(kind)) names.emplace_back(kind.name);
    return names;
  }
  static Json kind_in(const Json& plan, const std::string& name) {
    for (const Json& kind : plan.at("kinds")) {
      if (kind.at("kind") == name) return kind;
    }
    ADD_FAILURE() << name << " is not in the plan";
    return {};
  }
};

TEST_F(Plan, RecommendsTheDefaultKindFirst) {
  const std::string text = said({"plan", "--keys", "80000", "--fpr", "0.01"});
  EXPECT_EQ(said({"plan", "--keys", "80k", "--fpr", "0.01"}), text);
  EXPECT_THAT(text, AllOf(HasSubstr("80,000 keys at a target FPR of 1.00 %, in shards of 4.0 KiB:\n"
                                    "split_block_bloom, the fastest (1 cache line per lookup); "),
                          HasSubstr("\n*  split_block_bloom ")));
  EXPECT_LT(text.find("split_block_bloom"), text.find(" bloom "));
}

TEST_F(Plan, RecommendsOneKindForWhatIsNeededAndSaysWhy) {
  struct Row {
    Words options;
    std::string kind;
    std::string reason;
  };
  const std::vector<Row> rows{
      {{"--keys", "80000", "--all"},
       "split_block_bloom",
       "the fastest (1 cache line per lookup); ribbon would take 32 % less memory"},
      {{"--keys", "1M", "--fpr", "0.0001%"},
       "cuckoo",
       "the fastest that is not far from the smallest (2 cache lines per lookup); split_block_bloom would be "
       "faster (1 cache line) but take 161 % more memory; ribbon would take 18 % less memory"},
      {{"--keys", "1M", "--fpr", "1e-9"}, "ribbon", "the smallest and fastest (5 cache lines per lookup)"},
      {{"--keys", "1M", "--smallest"},
       "ribbon",
       "the smallest (2 cache lines per lookup); split_block_bloom would be faster (1 cache line) but take "
       "56 % more memory"},
      {{"--keys", "10", "--smallest"},
       "split_block_bloom",
       "the smallest and fastest (1 cache line per lookup)"},
  };
  for (const auto& [options, kind, reason] : rows) {
    const Json plan = json(Words{"plan"} + options);
    EXPECT_EQ(plan.at("reason"), reason);
    EXPECT_EQ(plan.at("kinds").at(0).at("kind"), kind);
    std::size_t at = 0;
    for (const Json& one : plan.at("kinds")) EXPECT_EQ(one.at("recommended"), at++ == 0) << one;
  }
}

TEST_F(Plan, LeavesOutKindsThatCannotReachTheTarget) {
  for (const double fpr : {1e-9, 1e-8}) {
    const auto reaches = [fpr](const FilterKind& kind) {
      return reaches_target(kind, {.keys = 1'000'000, .target_fpr = fpr});
    };
    const Json all = plan("1M", {"--fpr", fpr == 1e-9 ? "1e-9" : "1e-8", "--all"});
    EXPECT_THAT(kinds_of(all), ::testing::UnorderedElementsAreArray(kinds_that(reaches)));
    Words too_high;
    for (const Json& kind : all.at("too_high")) {
      too_high.push_back(kind.at("kind"));
      EXPECT_EQ(kind.at("lowest_fpr"), lowest_target(filter_kind_named(too_high.back()), {})) << kind;
    }
    EXPECT_EQ(too_high, kinds_that([&](const FilterKind& kind) { return !reaches(kind); }));
  }
  EXPECT_EQ(kinds_of(plan("1M", {"--fpr", "1e-9"})).front(), "ribbon");
  EXPECT_THAT(
      said({"plan", "--keys", "1M", "--fpr", "1e-9"}),
      AllOf(HasSubstr("1,000,000 keys at a target FPR of 0.000000100 %"),
            HasSubstr("\nNot shown, because they cannot reach this FPR in such shards (their lowest): "
                      "split_block_bloom (0.000100 %), cuckoo (0.000000190 %).\n")));
  EXPECT_THAT(said({"plan", "--keys", "1M", "--fpr", "1e-6"}), Not(HasSubstr("Not shown")));
}

TEST_F(Plan, SaysWhatEachKindCosts) {
  const Json plan = this->plan("80000", {"--fpr", "0.1%", "--shard-size", "8KiB", "--all"});
  EXPECT_THAT(plan,
              has({{"key_count", 80'000}, {"target_fpr", 0.001}, {"shard_bytes", 8192}, {"growth", 1.0}}));
  EXPECT_NEAR(plan.at("bound_bits_per_key"), 9.966, 0.001);
  for (const Json& kind : plan.at("kinds")) {
    EXPECT_LE(kind.at("theoretical_fpr"), 0.001);
    EXPECT_GT(kind.at("bits_per_key"), plan.at("bound_bits_per_key"));
    EXPECT_LT(kind.at("bits_per_key"), 20.0);
    EXPECT_GE(kind.at("bytes"), kind.at("shard_count").get<int>() * 8192);
    EXPECT_NE(kind.at("summary"), "");
  }
  EXPECT_EQ(kind_in(plan, "split_block_bloom").at("cache_lines"), 1);
  EXPECT_EQ(kind_in(plan, "blocked_bloom").at("cache_lines"), 1);
  EXPECT_EQ(kind_in(plan, "bloom").at("cache_lines"), kind_in(plan, "bloom").at("hash_count"));
}

TEST_F(Plan, ShowsTheUsualKindsWithRoomForGrowthOrKnownAbsentKeysOnlyWhereAskedFor) {
  const Words keys{"plan", "--keys", "80000"};
  EXPECT_THAT(kinds_of(json(keys)), ::testing::UnorderedElementsAreArray(
                                        kinds_that([](const FilterKind& kind) { return kind.is_usual; })));
  EXPECT_THAT(said(keys), AllOf(HasSubstr(" 1 cache line\n"), HasSubstr(" 7 cache lines\n"),
                                Not(HasSubstr("room")), Not(HasSubstr("known-absent"))));
  EXPECT_THAT(said(keys + Words{"--growth", "2"}), HasSubstr("with room for 2 times the keys"));
  EXPECT_GT(json(keys + Words{"--growth", "2"})["kinds"][0]["bytes"], json(keys)["kinds"][0]["bytes"]);
  const Words known_absent{"--known-absent", "2M"};
  EXPECT_THAT(
      said(keys + known_absent),
      HasSubstr("in shards of 4.0 KiB, with 2,000,000 known-absent keys that answer absent for certain:\n"));
  EXPECT_EQ(json(keys + known_absent).at("known_absent_count"), 2'000'000);
  EXPECT_EQ(json(keys).at("known_absent_count"), 0);
}

TEST_F(Plan, IsWhatBuildDoes) {
  const std::string list = write("absent.txt", numbered_lines(20'000, "absent"));
  const Words small{"--shard-size", "1KiB"};
  const Words growing{"--fpr", "0.02", "--growth", "1.5"};
  for (const auto& [planned, built] :
       {std::pair{growing, growing}, {Words{"--known-absent", "20k"}, Words{"--known-absent", list}}}) {
    const Json of_all = plan("5000", planned + small + Words{"--all"});
    for (const Json& kind : of_all.at("kinds")) {
      const Words options = built + small + Words{"--kind", kind.at("kind")};
      const Json snapshot = inspect(build("tags", numbered_lines(5000), options));
      for (const char* member : {"hash_count", "shard_count", "bytes"}) {
        EXPECT_EQ(kind.at(member), snapshot.at(member)) << kind.at("kind") << " " << member;
      }
    }
  }
}

// That gnuplot takes it, tests/docs/recipes/choose_a_filter checks.
class PlanPlot : public KeysieveProgram {
 protected:
  [[nodiscard]] std::string plot(const Words& options = {}) const {
    return said(Words{"plan", "--keys", "80000", "--plot"} + options);
  }
};

TEST_F(PlanPlot, HasACurveOfEveryKindAndTheBound) {
  const std::string script = plot();
  EXPECT_THAT(script, AllOf(StartsWith("set "), HasSubstr("title 'bound: "), Not(HasSubstr("set terminal")),
                            ContainsRegex("dashtype 1 title 'split_block_bloom'"),
                            ContainsRegex("dashtype 2 title 'xor'")));
  std::set<std::string> colours;
  for (const FilterKind& kind : filter_kinds()) {
    std::smatch curve;
    ASSERT_TRUE(std::regex_search(
        script, curve,
        std::regex("linecolor (\\S+ [^)]*\\)) dashtype . title '" + std::string(kind.name) + "'")));
    EXPECT_TRUE(colours.insert(curve[1]).second) << kind.name << " looks like another kind";
  }
}

TEST_F(PlanPlot, ShowsWhatWasAskedForAndPlanned) {
  EXPECT_THAT(plot(),
              AllOf(HasSubstr("title 'target: 1 %'"), HasSubstr("title 'recommended: split_block_bloom'")));
  EXPECT_THAT(plot({"--shard-size", "2KiB", "--fpr", "2%", "--smallest"}),
              AllOf(HasSubstr("80,000 keys in shards of 2.0 KiB"), HasSubstr("target: 2 %"),
                    HasSubstr("recommended: ribbon")));
}

TEST_F(PlanPlot, HoldsPlainNumbersAtTheEndsOfTheRange) {
  for (const Words& options :
       {Words{"--fpr", "1e-9", "--shard-size", "8KiB"}, Words{"--fpr", "1e-9", "--shard-size", "1KiB"},
        Words{"--fpr", "0.000001", "--shard-size", "8KiB"}, Words{"--fpr", "0.5", "--shard-size", "1KiB"}}) {
    EXPECT_THAT(plot(options), AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf")))) << options[1];
  }
}

TEST_F(PlanPlot, IsNothingForAPlanThatIsRefused) {
  expect_refusals(64, {{"plan --keys 9 --fpr 0.6 --plot", "1e-9 to 0.5"},
                       {"plan --keys 9 --known-absent 2M --plot", "--known-absent"},
                       {"plan --keys 9 --json --plot", "--json"}});
}

}  // namespace
}  // namespace keysieve::test
