#include <filesystem>

#include "core/builder/base/log_positions.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/records/chunk.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve::test {
namespace {

class Build : public KeysieveProgram {
 protected:
  // A build of set "tags" into new.ks that must be refused; new.ks must not be there afterwards.
  [[nodiscard]] std::string refused(int exit_status, const Words& options,
                                    const std::string& input = "") const {
    const std::string reason = refusal(exit_status, Words{"build", "-o", path("new.ks")} + options, input);
    EXPECT_FALSE(std::filesystem::exists(path("new.ks"))) << reason;
    return reason;
  }

  const std::string keys_ = write("keys.txt", numbered_lines(100));
};

using namespace std::string_literals;

TEST_F(Build, SaysWhatItHasWritten) {
  EXPECT_THAT(said({"build", "--set", "tags", keys_, "-o", path("tags.ks")}),
              AllOf(ContainsRegex("written +" + path("tags.ks") + "\n"), ContainsRegex("set +tags\n"),
                    ContainsRegex("keys +100 distinct\n"), ContainsRegex("keys read +100\n")));
  const std::string twice = write("twice.txt", numbered_lines(100) + numbered_lines(10));
  const Json report = json({"build", "--set", "tags", twice, "-o", path("tags.ks")});
  EXPECT_THAT(report, has({{"file", path("tags.ks")},
                           {"set", "tags"},
                           {"kind", "split_block_bloom"},
                           {"key_count", 100},
                           {"keys_read", 110},
                           {"shard_count", 1},
                           {"bytes", read(path("tags.ks")).size()},
                           {"target_fpr", 0.01}}));
  EXPECT_LE(report.at("estimated_fpr"), 0.01);
}

TEST_F(Build, UsesAnotherSeedAndBuildIdEachTime) {
  const Json one = inspect(build("one", "a\n"));
  const Json two = inspect(build("two", "a\n"));
  EXPECT_NE(one.at("seed"), two.at("seed"));
  EXPECT_NE(one.at("build_id"), two.at("build_id"));
}

TEST_F(Build, NamesTheSettingThatIsOutOfRange) {
  const std::string build = "build --set tags -o " + path("new.ks") + " " + keys_ + " ";
  std::vector<Refused> all{
      {"--fpr 51%", "is out of range: 1e-9 to 0.5"},
      {"--fpr 1e-9", "split_block_bloom cannot reach a target FPR of "},
      {"--fpr 2", "--fpr: \"2\""},
      {"--growth 100.1", "is out of range: 1 to 100"},
      {"--kind cuckoo_clock", "cuckoo_clock"},
      {"--shard-size 3KiB", " is out of range: 1KiB, 2KiB, 4KiB or 8KiB"},
      {"--shard-size 16KiB", " is out of range: 1KiB, 2KiB, 4KiB or 8KiB"},
      {"--as-of yesterday", "--as-of: \"yesterday\""},
      {"--as-of @99999999999", "--as-of: \"@99999999999\" is in the future: now is 20"},
      {"--adds-from 5-x", "a position is <milliseconds>-<number>"},
      {"--adds-overlap -1m", "--adds-overlap: \"-1m\""},
      {"--adds-overlap 1m --adds-from 0-0", "excludes"},
      {"--valid-for soon", "--valid-for: \"soon\""},
      {"--min-keys -1", "--min-keys: \"-1\""},
      {"--max-shrink 200%", "--max-shrink: \"200%\""},
      {"--max-fpr x", "--max-fpr: \"x\""},
      {"--resize", "--resize requires --like"},
      {"--memory much", "--memory: \"much\""},
      {"--threads 0", "is out of range: 1 to 64"},
      {"--threads 4294967297", "is out of range: 1 to 64"},
      {"--shard-size 8KiB --known-absent " + keys_, "leave no room for known-absent keys"},
  };
  for (Refused& one : all) one.command.insert(0, build);
  expect_refusals(64, all);
  EXPECT_FALSE(std::filesystem::exists(path("new.ks")));
}

TEST_F(Build, RoundsASplitSecondOfValidityUp) {
  EXPECT_EQ(inspect(build("tags", "a\n", {"--valid-for", "500ms"})).at("valid_for_seconds"), 1);
  EXPECT_EQ(inspect(build("tags", "a\n", {"--valid-for", "36h"})).at("valid_for_seconds"), 129'600);
}

TEST_F(Build, RefusesListsThatCannotBeRight) {
  const std::string empty = write("empty.txt", "\n\n");
  EXPECT_EQ(refused(65, {"--set", "tags", empty}),
            empty + ": holds no keys; set tags is not built (--min-keys 0 builds an empty one)");
  EXPECT_THAT(refused(65, {"--set", "tags", "-"}), StartsWith("standard input: holds no keys"));
  const std::string list = write("wrong.txt", "a\0b\0"s);
  for (const Words& options : {Words{}, Words{"--allow-suspect-keys"}}) {
    EXPECT_THAT(refused(65, Words{"--set", "tags", list} + options),
                StartsWith(list + ": line 1 holds a NUL byte"));
  }
  EXPECT_THAT(refused(65, {"--set", "tags", "-0", keys_}), StartsWith(keys_ + ": holds no NUL"));
  build("tags", "a\r\nb\r\n", {"--allow-cr"});
}

TEST_F(Build, RefusesLinesThatLookLikeAnythingButKeys) {
  const std::string list = write("odd.txt", "id,name\n1,猫\n2,犬\n");
  EXPECT_THAT(refused(65, {"--set", "tags", list}),
              AllOf(StartsWith(list + ": "), HasSubstr("2 columns"),
                    EndsWith("(--allow-suspect-keys if that is intended)")));
  EXPECT_NE(said({"build", "--allow-suspect-keys", "--set", "tags", list, "-o", path("tags.ks")}), "");
  EXPECT_THAT(refused(65, {"--set", "tags", "--known-absent", list, keys_}), StartsWith(list + ": "));
}

TEST_F(Build, WarnsOfFewLinesThatLookLikeSomethingElse) {
  const std::string list = write("odd.txt", "猫 \n" + numbered_lines(200));
  const Words arguments{"build", "--set", "tags", "-o", path("tags.ks"), list};
  const ProgramResult built = keysieve(arguments);
  EXPECT_EQ(built.exit_status, 0);
  EXPECT_THAT(built.errors, AllOf(StartsWith("keysieve: warning: " + list + ": "), HasSubstr("a space"),
                                  HasSubstr("猫"), HasSubstr("--allow-suspect-keys")));
}

TEST_F(Build, RefusesToOverwriteTheListOfKeys) {
  const std::string before = read(keys_);
  std::filesystem::create_symlink(keys_, path("link"));
  std::filesystem::create_hard_link(keys_, path("same"));
  std::filesystem::create_hard_link(keys_, path("out.ks"));
  for (const std::string& output : {keys_, path("link"), path("same"), path("out.ks"), path("./keys.txt")}) {
    EXPECT_THAT(refusal(64, {"build", "--set", "tags", keys_, "-o", output}),
                AllOf(StartsWith(output), HasSubstr("would overwrite"), HasSubstr(keys_)))
        << output;
  }
  const std::string other = write("other.txt", numbered_lines(10));
  for (const char* option : {"--required-keys", "--known-absent"}) {
    for (const std::string& output : {keys_, path("out.ks")}) {
      EXPECT_THAT(refusal(64, {"build", "--set", "tags", option, keys_, other, "-o", output}),
                  AllOf(HasSubstr("would overwrite"), HasSubstr(keys_)))
          << option;
    }
  }
  EXPECT_EQ(read(keys_), before);
}

TEST_F(Build, MustBeAllowedToReadTheList) {
  permit(keys_, 0);
  const ProgramResult result = keysieve_as_nobody({"build", "--set", "tags", keys_, "-o", path("new.ks")});
  EXPECT_EQ(result.exit_status, 77);
  EXPECT_EQ(result.errors, "keysieve: " + keys_ + ": Permission denied\n");
}

TEST_F(Build, ChecksEachGuardUnlessItIsLifted) {
  const std::string own = write("own.txt", "w7\nw8\n");
  const std::string others = write("others.txt", "w7\n猫\nw8\n");
  const std::string like = "--like " + build("before", numbered_lines(10'000)) + " ";
  const std::string call =
      "build --set tags -o " + path("new.ks") + " " + write("many.txt", numbered_lines(5000)) + " ";
  expect_refusals(65, {{call + like, "\"tags\" shrank from 10,000 to 5,000 keys"},
                       {call + "--min-keys 5001", "has 5,000 keys, fewer than 5,001; --min-keys"},
                       {call + "--min-keys 6k", "fewer than 6,000"},
                       {call + "--max-fpr 0.001%", "above 0.00100 %"},
                       {call + "--fpr 0.000001 --required-keys " + others, "required key \"猫\""}});
  EXPECT_FALSE(std::filesystem::exists(path("new.ks")));
  for (const std::string& options :
       {like + "--allow-shrink", like + "--max-shrink 51%", std::string("--min-keys 5000"),
        std::string("--max-fpr 1.1%"), "--required-keys " + own}) {
    run(words_of(call + options));
  }
}

class BuildWithKnownAbsentKeys : public Build {
 protected:
  const std::string known_absent_ = write("absent.txt", numbered_lines(20'000, "absent"));
};

TEST_F(BuildWithKnownAbsentKeys, CountsAKeyInBothListsAsAKeyAndSaysHowManyThereWere) {
  const std::string list = write("list.txt", numbered_lines(10) + numbered_lines(50, "absent") + "w3\n");
  const Words arguments{"build", "--set", "tags", keys_, "--known-absent", list, "-o", path("tags.ks")};
  EXPECT_THAT(said(arguments),
              AllOf(ContainsRegex("\nkeys +100 distinct\n"), ContainsRegex("\nknown absent +50 keys\n"),
                    ContainsRegex("\nknown absent read +61, of which 10 keys are in both lists\n")));
  EXPECT_THAT(json(arguments), has({{"key_count", 100},
                                    {"known_absent_count", 50},
                                    {"known_absent_read", 61},
                                    {"keys_in_both_lists", 10}}));
  run({"verify", path("tags.ks"), "--keys", keys_, "--known-absent", list});
  write("list.txt", "w3\n");
  EXPECT_THAT(said(arguments), ContainsRegex("\nknown absent read +1, of which 1 key is in both lists\n"));
}

TEST_F(BuildWithKnownAbsentKeys, ReadsOneOfTheTwoListsFromStandardInput) {
  const Words build{"build", "--set", "tags", "-o", path("tags.ks"), "--known-absent"};
  const Words verify{"verify", path("tags.ks"), "--keys", keys_, "--known-absent", known_absent_};
  EXPECT_THAT(said(build + Words{known_absent_, "-"}, numbered_lines(100)), HasSubstr("100 distinct"));
  run(verify);
  EXPECT_THAT(said(build + Words{"-", keys_}, numbered_lines(20'000, "absent")), HasSubstr("20,000 keys"));
  run(verify);
  EXPECT_EQ(refused(64, {"--set", "tags", "--known-absent", "-", "-"}, "a\n"),
            "standard input can be one of the lists, not several");
}

TEST_F(BuildWithKnownAbsentKeys, ReadsBothListsNulSeparated) {
  const Words format{"-0"};
  const std::string list = write("list", "a\0\0a\nc\0b\0"s);
  const std::string snapshot = build("tags", "a\nb\0b\0"s, format + Words{"--known-absent", list});
  EXPECT_THAT(inspect(snapshot), has({{"key_count", 2}, {"known_absent_count", 3}}));
  EXPECT_THAT(json(Words{"verify", snapshot, "--keys", path("tags.txt"), "--absent",
                         write("absent", "a\0\0a\nc\0"s)} +
                   format),
              has({{"false_negatives", 0}, {"absent_keys", 3}, {"measured_fpr", 0.0}}));
  EXPECT_THAT(refused(65, {"--set", "tags", keys_, "--known-absent", list}),
              AllOf(StartsWith(list + ": "), HasSubstr("NUL")));
}

// keysieve build --like: what a build takes over from a snapshot or a store, and what it notes of the adds
// log.

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
  EXPECT_THAT(created.output, ContainsRegex("like +" + beginning + " and no seed: one is drawn\n"));
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
  EXPECT_THAT(built.output,
              ContainsRegex("like +" + shop + " holds the set shop, not tags: only its seed is taken\n"));
  EXPECT_EQ(built.errors, "keysieve: warning: " + shop +
                              " holds the set shop, not tags: only its seed is taken, and --max-shrink "
                              "compares with nothing\n");
  EXPECT_THAT(inspect(path("tags.ks")),
              has({{"kind", "split_block_bloom"}, {"shard_count", 1}, {"seed", inspect(shop).at("seed")}}));
}

// Another push repairs it.
TEST_F(BuildLike, TakesOnlyTheSeedOfADamagedGeneration) {
  const std::string before = build("before", numbered_lines(100), {"--kind", "bloom"});
  push(before);
  const auto opened = opened_store();
  const PushId push_id = read_pointer(*opened, "tags")->current->push_id;
  remove_record(*opened, chunk_key(opened->prefix(), "tags", push_id, 0));
  const std::string keys = write("tags.txt", numbered_lines(90));
  const ProgramResult built =
      keysieve({"build", "--set", "tags", "--like", store(), keys, "-o", path("tags.ks")});
  EXPECT_EQ(built.exit_status, 0);
  EXPECT_THAT(built.errors, HasSubstr(":0 is missing; only the store's seed is taken"));
  EXPECT_THAT(inspect(path("tags.ks")), has({{"kind", "split_block_bloom"}}));
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

class Seed : public KeysieveProgram {
 protected:
  // Builds as a nightly script does, and pushes; returns the warning.
  [[nodiscard]] std::string built_and_pushed(const std::string& set_name) const {
    const std::string snapshot = build(set_name, numbered_lines(1000), {"--like", store()}, set_name);
    const ProgramResult result = keysieve({"push", snapshot, store()});
    EXPECT_EQ(result.exit_status, 0) << result.errors;
    return result.errors;
  }
  [[nodiscard]] Json seed_of_file(const std::string& name) const { return inspect(path(name)).at("seed"); }
  [[nodiscard]] Json seed_of_store() const { return json({"seed", store()}).at("seed"); }
  [[nodiscard]] Json others() const { return json({"seed", store()}).at("sets_of_other_seeds"); }
};

TEST_F(Seed, IsNoneBeforeTheFirstBuild) {
  push(build("tags", numbered_lines(10)));
  EXPECT_EQ(seed_of_store(), nullptr);
  EXPECT_THAT(said({"seed", store()}), HasSubstr("none yet"));
}

// A loader that saves seen sets creates no store.
TEST_F(Seed, BeginsAStoreThatIsNotThereYet) {
  EXPECT_EQ(keysieve({"seed", store()}).exit_status, 69);
  const Json drawn = json({"seed", "--new", store()}).at("seed");
  EXPECT_EQ(drawn, seed_of_store());
}

TEST_F(Seed, IsRenewedSetBySetWhileTheOthersKeepTheirs) {
  for (const char* set_name : {"shop", "tags"}) EXPECT_EQ(built_and_pushed(set_name), "");
  const Json before = seed_of_store();
  EXPECT_EQ(before, seed_of_file("tags.ks"));
  EXPECT_THAT(others(), IsEmpty());
  const Json renewed = json({"seed", "--new", store()});
  EXPECT_NE(renewed.at("seed"), before);
  EXPECT_THAT(renewed.at("sets_of_other_seeds"), ElementsAre("shop", "tags"));

  EXPECT_THAT(built_and_pushed("tags"), HasSubstr("seed"));
  EXPECT_EQ(seed_of_file("tags.ks"), renewed.at("seed"));
  EXPECT_THAT(others(), ElementsAre("shop"));
  EXPECT_THAT(said({"seed", store()}), HasSubstr("shop\n"));
  EXPECT_THAT(built_and_pushed("shop"), HasSubstr("seed"));
  EXPECT_THAT(others(), IsEmpty());
}

}  // namespace
}  // namespace keysieve::test
