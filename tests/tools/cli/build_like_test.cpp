// keysieve build --like: what a build takes over from a snapshot or a store, and what it notes of the adds
// log.
#include "core/builder/base/log_positions.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/tools/cli/build_program.hpp"
#include "tools/transfer/adds_log.hpp"

namespace keysieve::test {
namespace {

using namespace std::string_literals;

class BuildLike : public Build {
 protected:
  [[nodiscard]] Words like(const std::string& source) const {
    return {"build", "--set", "tags", "--like", source, keys_, "-o", path("tags.ks")};
  }
};

TEST_F(BuildLike, SaysWhatItIsLikeAndWarnsOfAStoreThatMayBeTheWrongOne) {
  const std::string beginning = store() + " has no set tags yet";
  const std::string end = ", and --max-shrink compares with nothing";
  const ProgramResult created = keysieve(like(store()));
  EXPECT_EQ(created.exit_status, 0);
  EXPECT_EQ(created.errors, "keysieve: warning: " + beginning + " and no seed: one is drawn" + end + "\n");
  EXPECT_THAT(created.output,
              ContainsRegex("like +" + store() + ": only the seed, it has no set tags yet\n"));
  EXPECT_EQ(Json::parse(keysieve(like(store()) + Words{"--json"}).errors, nullptr, false),
            Json({{"warning", beginning + ": only its seed is taken" + end}}));
  push(path("tags.ks"));
  EXPECT_THAT(said(like(store())), ContainsRegex("like +" + store() + ", generation 1\n"));
  EXPECT_THAT(json(like(store())), has({{"like", store()}}));
  const Words without{"build", "--set", "tags", keys_, "-o", path("tags.ks")};
  EXPECT_THAT(said(without), Not(HasSubstr("like")));
  EXPECT_FALSE(json(without).contains("like"));
}

TEST_F(BuildLike, KeepsKindShardsAndSeedUnlessOthersAreAskedFor) {
  const Words options{"--growth", "2", "--kind", "bloom", "--shard-size", "1KiB"};
  const Json before = inspect(build("before", numbered_lines(20'000), options));
  push(path("before.ks"));
  for (const std::string& source : {path("before.ks"), store()}) {
    const Json kept = inspect(build("kept", numbered_lines(19'000), {"--like", source}));
    for (const char* member : {"kind", "shard_bytes", "shard_count", "seed"}) {
      EXPECT_EQ(kept.at(member), before.at(member)) << source << ": " << member;
    }
    EXPECT_NE(kept.at("build_id"), before.at("build_id"));
    const Json resized = inspect(build("resized", numbered_lines(19'000), {"--like", source, "--resize"}));
    EXPECT_LT(resized.at("shard_count"), before.at("shard_count")) << source;
    EXPECT_THAT(resized, has({{"kind", "bloom"}, {"shard_bytes", 1024}, {"seed", before.at("seed")}}));
  }
  const Words other{"--like", path("before.ks"), "--kind", "blocked_bloom", "--shard-size",
                    "8KiB",   "--allow-shrink"};
  EXPECT_THAT(inspect(build("other", numbered_lines(100), other)),
              has({{"kind", "blocked_bloom"}, {"shard_bytes", 8192}}));
}

TEST_F(BuildLike, TakesOnlyTheSeedOfASnapshotOfAnotherSet) {
  const std::string shop = build("shop", numbered_lines(10'000), {"--kind", "bloom"}, "shop");
  const ProgramResult built = keysieve(like(shop));
  EXPECT_EQ(built.exit_status, 0);
  EXPECT_THAT(built.output, ContainsRegex("like +" + shop + ": only the seed, it holds the set shop\n"));
  EXPECT_EQ(built.errors, "keysieve: warning: " + shop +
                              " holds the set shop, not tags: only its seed is taken, and --max-shrink "
                              "compares with nothing\n");
  EXPECT_THAT(inspect(path("tags.ks")),
              has({{"kind", "split_block_bloom"}, {"shard_count", 1}, {"seed", inspect(shop).at("seed")}}));
}

TEST_F(BuildLike, BeginsAndEndsHavingKnownAbsentKeysWhateverTheSnapshotBeforeHad) {
  const std::string list = write("absent.txt", numbered_lines(20'000, "absent"));
  const std::string without = build("without", numbered_lines(5'000));
  const std::string begun =
      build("begun", numbered_lines(5'000), {"--like", without, "--known-absent", list});
  EXPECT_THAT(inspect(begun), has({{"known_absent_count", 20'000}, {"seed", inspect(without).at("seed")}}));
  run({"verify", begun, "--keys", path("begun.txt"), "--known-absent", list});
  const std::string ended = build("ended", numbered_lines(5'000), {"--like", begun});
  EXPECT_THAT(inspect(ended), has({{"known_absent_count", 0}, {"retrieval_bytes", 0}}));
  run({"verify", ended, "--keys", path("ended.txt")});
}

class BuildAddsFrom : public KeysieveProgram {
 protected:
  // What the set of one key says that was built with these options.
  [[nodiscard]] LogPosition built(const Words& options, const std::string& set_name = "tags") const {
    const std::string text = inspect(build(set_name, "a\n", options, set_name)).at("adds_from");
    return parse_log_position(text).value_or(log_position(UINT64_MAX, 0));
  }
  // Appends one key, with this moment as the end of the log.
  LogPosition add() const {
    const auto opened = opened_store();
    return append(*opened, {"new"}, adds_log(*opened, "tags"));
  }
};

TEST_F(BuildAddsFrom, IsTheWholeLogWithoutAStore) {
  const std::string base = build("base", "a\n", {"--adds-from", "5-6"});
  for (const Words& options : {Words{}, Words{"--like", base}}) EXPECT_EQ(built(options), LogPosition{});
}

TEST_F(BuildAddsFrom, IsAsLongBeforeTheMomentOfTheListAsATransactionTakesOrAsTold) {
  const LogPosition last = add();
  const LogPosition now = built({"--like", store(), "--adds-overlap", "0s"});
  EXPECT_GE(milliseconds_of(now), milliseconds_of(last));
  EXPECT_LE(now, add()) << "or an add during the build would be lost";
  EXPECT_EQ(built({"--like", store(), "--as-of", "@1700000000"}), log_position(1'699'999'400'000, 0));
  EXPECT_EQ(built({"--like", store(), "--as-of", "@1700000000", "--adds-overlap", "1h"}),
            log_position(1'699'996'400'000, 0));
  EXPECT_EQ(built({"--like", store(), "--adds-from", "5-6"}), log_position(5, 6));
}

}  // namespace
}  // namespace keysieve::test
