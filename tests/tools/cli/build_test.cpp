#include <unistd.h>

#include <filesystem>

#include "core/snapshot/builder.hpp"
#include "tests/support/mounted_tmpfs.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Build : public KeysieveProgram {
 protected:
  // A build of set "tags" into new.ks that must be refused; new.ks must not be there afterwards.
  [[nodiscard]] std::string refused(int exit_status, Words options, const std::string& input = "") const {
    Words arguments{"build", "-o", path("new.ks")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const std::string reason = refusal(exit_status, arguments, input);
    EXPECT_FALSE(std::filesystem::exists(path("new.ks"))) << reason;
    return reason;
  }
  [[nodiscard]] std::string refused_setting(Words options) const {
    options.insert(options.end(), {"--set", "tags", keys_});
    return refused(64, options);
  }

  [[nodiscard]] Json inspect(const std::string& snapshot) const { return json({"inspect", snapshot}); }

  const std::string keys_ = write("keys.txt", numbered_lines(100));
};

TEST_F(Build, SaysWhatItHasWritten) {
  EXPECT_THAT(said({"build", "--set", "tags", keys_, "-o", path("tags.ks")}),
              AllOf(ContainsRegex("written +" + path("tags.ks") + "\n"), ContainsRegex("set +tags\n"),
                    ContainsRegex("keys +100 distinct\n"), ContainsRegex("keys read +100\n")));
  const Json report = json({"build", "--set", "tags", keys_, "-o", path("tags.ks")});
  EXPECT_EQ(report.at("file"), path("tags.ks"));
  EXPECT_EQ(report.at("set"), "tags");
  EXPECT_EQ(report.at("kind"), "split_block_bloom");
  EXPECT_EQ(report.at("key_count"), 100);
  EXPECT_EQ(report.at("keys_read"), 100);
  EXPECT_EQ(report.at("shard_count"), 1);
  EXPECT_EQ(report.at("bytes"), read(path("tags.ks")).size());
  EXPECT_EQ(report.at("target_fpr"), 0.01);
  EXPECT_LE(report.at("estimated_fpr"), 0.01);
}

TEST_F(Build, CountsDuplicatesOnce) {
  const Json report =
      json({"build", "--set", "tags", write("twice.txt", "a\nb\na\n"), "-o", path("tags.ks")});
  EXPECT_EQ(report.at("keys_read"), 3);
  EXPECT_EQ(report.at("key_count"), 2);
}

TEST_F(Build, ReadsStandardInput) {
  EXPECT_THAT(said({"build", "--set", "tags", "-", "-o", path("tags.ks")}, "a\nb\n"),
              HasSubstr("2 distinct"));
  EXPECT_THAT(refused(65, {"--set", "tags", "-"}, "a\nb\r\n"),
              StartsWith("standard input: line 2 ends in a CR"));
  EXPECT_THAT(refused(65, {"--set", "tags", "-"}), StartsWith("standard input: holds no keys"));
}

TEST_F(Build, UsesAnotherSeedAndBuildIdEachTime) {
  const Json one = inspect(build("one", "a\n"));
  const Json two = inspect(build("two", "a\n"));
  EXPECT_NE(one.at("seed"), two.at("seed"));
  EXPECT_NE(one.at("build_id"), two.at("build_id"));
}

TEST_F(Build, KnowsEveryKindAndShardSize) {
  for (const char* kind : {"bloom", "blocked_bloom", "split_block_bloom"}) {
    EXPECT_EQ(inspect(build("tags", "a\n", {"--kind", kind})).at("kind"), kind);
  }
  for (const char* size : {"1KiB", "2KiB", "4KiB", "8KiB", "4096"}) {
    EXPECT_THAT(said({"inspect", build("tags", "a\n", {"--shard-size", size})}),
                ContainsRegex("shards +1 of [1248].0 KiB\n"));
  }
}

TEST_F(Build, RefusesWrongSetNames) {
  for (const std::string& name :
       {std::string("."), std::string(".."), std::string("-x"), std::string("A"), std::string(""),
        std::string(65, 'a'), std::string("a/b"), std::string("猫")}) {
    EXPECT_THAT(refused(64, {"--set", name, keys_}), HasSubstr("set name \"" + name + "\" is not valid"));
    EXPECT_THAT(refused(64, {"--store", store(), keys_, "--set", name}), HasSubstr("is not valid"));
  }
  EXPECT_FALSE(std::filesystem::exists(path("store"))) << "a wrong name must not reach a store";
  static_cast<void>(build("longest", "a\n", {}, std::string(64, 'a')));
}

TEST_F(Build, RefusesSettingsOutOfRangeAndNamesThem) {
  for (const char* fpr : {"0", "0.0000009", "0.51", "51%"}) {
    EXPECT_THAT(refused_setting({"--fpr", fpr}), HasSubstr("is out of range: 0.000001 to 0.5")) << fpr;
  }
  EXPECT_THAT(refused_setting({"--fpr", "1e-20"}), HasSubstr("target FPR 1e-20 is out of range"));
  for (const char* fpr : {"2", "-1%", "one", ""}) {
    EXPECT_THAT(refused_setting({"--fpr", fpr}), StartsWith("--fpr: \"" + std::string(fpr) + "\"")) << fpr;
  }
  for (const char* size : {"512", "0", "3KiB", "16KiB", "4097"}) {
    EXPECT_THAT(refused_setting({"--shard-size", size}),
                HasSubstr("shard size " + std::string(size) + " is out of range: 1KiB, 2KiB, 4KiB or 8KiB"));
  }
  for (const char* growth : {"0.99", "100.1", "0", "-1", "nan", "inf"}) {
    EXPECT_THAT(refused_setting({"--growth", growth}), HasSubstr("is out of range: 1 to 100")) << growth;
  }
  EXPECT_THAT(refused_setting({"--kind", "cuckoo_clock"}), HasSubstr("cuckoo_clock"));
  EXPECT_THAT(refused_setting({"--as-of", "yesterday"}), StartsWith("--as-of: \"yesterday\""));
  for (const char* position : {"", "now", "5", "5-", "5-x"}) {
    EXPECT_THAT(refused_setting({"--adds-from", position}),
                AllOf(StartsWith("--adds-from: "), HasSubstr("a position is <milliseconds>-<number>")));
  }
  EXPECT_THAT(refused_setting({"--adds-overlap", "-1m"}), StartsWith("--adds-overlap: \"-1m\""));
  EXPECT_THAT(refused_setting({"--adds-overlap", "1m", "--adds-from", "0-0"}), HasSubstr("excludes"));
  EXPECT_THAT(refused_setting({"--valid-for", "soon"}), StartsWith("--valid-for: \"soon\""));
  EXPECT_THAT(refused_setting({"--key-profile", std::string(65, 'p')}), HasSubstr("at most 64 bytes"));
  EXPECT_THAT(refused_setting({"--min-keys", "-1"}), StartsWith("--min-keys: \"-1\""));
  EXPECT_THAT(refused_setting({"--max-shrink", "200%"}), StartsWith("--max-shrink: \"200%\""));
  EXPECT_THAT(refused_setting({"--max-fpr", "x"}), StartsWith("--max-fpr: \"x\""));
  EXPECT_THAT(refused_setting({"--store", "ftp://user:s3cret@host/"}),
              StartsWith("store \"ftp\" is not known"));
  EXPECT_THAT(refused_setting({"--store", store(), "--seed-from", "a.ks"}), HasSubstr("excludes"));
  EXPECT_THAT(refused_setting({"--like", "a.ks", "--store", store()}), HasSubstr("excludes"));
  EXPECT_THAT(refused_setting({"--like", "a.ks", "--seed-from", "a.ks"}), HasSubstr("excludes"));
}

TEST_F(Build, AcceptsTheEndsOfEachRange) {
  build("tags", "a\n", {"--fpr", "0.000001", "--growth", "100"});
  build("tags", "a\n",
        {"--fpr", "50%", "--growth", "1", "--as-of", "@0", "--key-profile", std::string(64, 'p')});
}

TEST_F(Build, RoundsASplitSecondOfValidityUp) {
  EXPECT_EQ(inspect(build("tags", "a\n", {"--valid-for", "500ms"})).at("valid_for_seconds"), 1);
  EXPECT_EQ(inspect(build("tags", "a\n", {"--valid-for", "36h"})).at("valid_for_seconds"), 129'600);
}

TEST_F(Build, RefusesListsThatCannotBeRight) {
  const std::string empty = write("empty.txt", "\n\n");
  EXPECT_EQ(refused(65, {"--set", "tags", empty}),
            empty + ": holds no keys; set tags is not built (--min-keys 0 builds an empty one)");
  const std::string with_cr = write("cr.txt", "a\r\nb\r\n");
  EXPECT_THAT(refused(65, {"--set", "tags", with_cr}), StartsWith(with_cr + ": line 1 ends in a CR"));
  EXPECT_EQ(refused(66, {"--set", "tags", path("none.txt")}),
            path("none.txt") + ": No such file or directory");
  EXPECT_EQ(refused(66, {"--set", "tags", shared_memory()}), shared_memory() + ": Is a directory");
  build("tags", "a\r\nb\r\n", {"--allow-cr"});
}

TEST_F(Build, RefusesWhatIsNoListOfKeys) {
  for (const auto& [text, reason] :
       {std::pair{"\x1F\x8B\x08\0more"s, "is compressed by gzip"}, std::pair{"\xFF\xFEk\0"s, "UTF-16"},
        std::pair{"a\0b\0"s, "line 1 holds a NUL byte"}}) {
    const std::string list = write("wrong.txt", text);
    EXPECT_THAT(refused(65, {"--set", "tags", list}), AllOf(StartsWith(list + ": "), HasSubstr(reason)));
    EXPECT_THAT(refused(65, {"--set", "tags", "--allow-suspect-keys", list}), HasSubstr(reason));
  }
  EXPECT_THAT(refused(65, {"--set", "tags", "-0", keys_}), StartsWith(keys_ + ": holds no NUL"));
}

TEST_F(Build, WarnsOfLinesThatLookLikeSomethingElse) {
  for (const auto& [text, what] :
       {std::pair{"id,name\n1,猫\n", "2 columns"}, std::pair{"\"猫\"\n\"犬\"\n", "in quotes"},
        std::pair{"猫 \n犬\n", "a space"}}) {
    Words arguments{"build", "--set", "tags", "-o", path("tags.ks"), write("odd.txt", text)};
    const ProgramResult built = keysieve(arguments);
    EXPECT_EQ(built.exit_status, 0);
    EXPECT_THAT(built.errors, AllOf(StartsWith("keysieve: warning: " + path("odd.txt") + ": "),
                                    HasSubstr(what), HasSubstr("猫"), HasSubstr("--allow-suspect-keys")));
    arguments.emplace_back("--allow-suspect-keys");
    EXPECT_NE(said(arguments), "");
  }
}

TEST_F(Build, RefusesToOverwriteTheListOfKeys) {
  const std::string before = read(keys_);
  std::filesystem::create_symlink(keys_, path("link"));
  std::filesystem::create_hard_link(keys_, path("same"));
  std::filesystem::create_hard_link(keys_, path("out.ks.counters"));
  for (const std::string& output : {keys_, path("link"), path("same"), path("out.ks"), path("./keys.txt")}) {
    EXPECT_THAT(refusal(64, {"build", "--set", "tags", keys_, "-o", output}),
                AllOf(StartsWith(output), HasSubstr("would be overwritten"), HasSubstr(keys_)))
        << output;
  }
  const std::string other = write("other.txt", numbered_lines(10));
  EXPECT_THAT(refusal(64, {"build", "--set", "tags", "--canaries", keys_, other, "-o", keys_}),
              HasSubstr("would be overwritten"));
  EXPECT_EQ(read(keys_), before);
}

TEST_F(Build, RefusesAMomentInTheFuture) {
  EXPECT_THAT(refused_setting({"--as-of", "@99999999999"}),
              AllOf(StartsWith("--as-of: \"@99999999999\" is in the future: now is 20"), HasSubstr("Z, @")));
  const std::string list = write("list.txt", "a\n");
  EXPECT_THAT(refusal(64, {"update", "tags", "--add", list, "--as-of", "2999-01-01T00:00:00Z", store()}),
              HasSubstr("is in the future"));
}

TEST_F(Build, MustBeAllowedToReadTheList) {
  ProgramCall call = call_of({"build", "--set", "tags", keys_, "-o", path("new.ks")});
  if (::geteuid() == 0) {
    call.user = kNobody;
    std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  }
  std::filesystem::permissions(keys_, std::filesystem::perms::none);
  const ProgramResult result = run_program(call);
  EXPECT_EQ(result.exit_status, 77);
  EXPECT_EQ(result.errors, "keysieve: " + keys_ + ": Permission denied\n");
}

TEST_F(Build, KeepsTheOldFileWhenItFails) {
  const std::string before = read(build("tags", "a\nb\n"));
  static_cast<void>(refusal(65, {"build", "--set", "tags", write("empty.txt", ""), "-o", path("tags.ks")}));
  EXPECT_EQ(read(path("tags.ks")), before);
}

TEST_F(Build, NamesAFileThatCannotBeWritten) {
  const std::string lost = path("nowhere/tags.ks");
  EXPECT_EQ(refusal(73, {"build", "--set", "tags", keys_, "-o", lost}), lost + ": No such file or directory");
  EXPECT_THAT(refusal(73, {"build", "--set", "tags", keys_, "-o", "/dev/null"}),
              StartsWith("/dev/null: is there already"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(Build, LeavesNothingBehindOnAFullDisk) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can mount a small tmpfs";
  const MountedTmpfs mounted(shared_memory(), "32k");
  if (mounted.error() == EPERM) GTEST_SKIP() << "this root may not mount";
  ASSERT_EQ(mounted.error(), 0);
  const std::string target = shared_memory() + "/tags.ks";
  EXPECT_EQ(refusal(73, {"build", "--set", "tags", "--growth", "100", write("many.txt", numbered_lines(5000)),
                         "-o", target}),
            target + ": No space left on device");
  EXPECT_THAT(names_in(shared_memory()), ElementsAre());
}

TEST_F(Build, KeepsShardCountAndSeedOfTheSnapshotBefore) {
  const Json before = inspect(build("before", numbered_lines(20'000), {"--growth", "2"}));
  const Json like = inspect(build("like", numbered_lines(19'000), {"--like", path("before.ks")}));
  EXPECT_EQ(like.at("shard_count"), before.at("shard_count"));
  EXPECT_EQ(like.at("seed"), before.at("seed"));
  EXPECT_NE(like.at("build_id"), before.at("build_id"));
  EXPECT_LT(inspect(build("anew", numbered_lines(19'000))).at("shard_count"), before.at("shard_count"));
}

TEST_F(Build, KeepsKindAndShardSizeUnlessOthersAreAskedFor) {
  build("before", numbered_lines(100), {"--kind", "bloom", "--shard-size", "1KiB"});
  EXPECT_EQ(inspect(build("like", numbered_lines(100), {"--like", path("before.ks")})).at("kind"), "bloom");
  EXPECT_THAT(said({"inspect", path("like.ks")}), HasSubstr("1 of 1.0 KiB"));
  const Words other{"--like", path("before.ks"), "--kind", "blocked_bloom", "--shard-size", "8KiB"};
  EXPECT_EQ(inspect(build("like", numbered_lines(100), other)).at("kind"), "blocked_bloom");
  EXPECT_THAT(said({"inspect", path("like.ks")}), HasSubstr("1 of 8.0 KiB"));
}

TEST_F(Build, SizesAnewWhenTheKeysDoNotFitAnyMore) {
  const Json before = inspect(build("before", numbered_lines(5000)));
  const Json like = inspect(build("like", numbered_lines(20'000), {"--like", path("before.ks")}));
  EXPECT_GT(like.at("shard_count"), before.at("shard_count"));
  EXPECT_EQ(like.at("seed"), before.at("seed"));
  EXPECT_LE(like.at("estimated_fpr"), 0.0105);
}

TEST_F(Build, KeepsShardCountAndSeedOfTheCurrentGeneration) {
  const Json before = inspect(build("before", numbered_lines(20'000), {"--growth", "2"}));
  static_cast<void>(said({"push", path("before.ks"), store()}));
  const Json like = inspect(build("like", numbered_lines(19'000), {"--like", store()}));
  EXPECT_EQ(like.at("shard_count"), before.at("shard_count"));
  EXPECT_EQ(like.at("seed"), before.at("seed"));
}

TEST_F(Build, SharesOneSeedAmongTheSetsOfAStore) {
  const Json tags = inspect(build("tags", "a\n", {"--store", store()}));
  const Json shop = inspect(build("shop", "b\n", {"--store", store()}, "shop"));
  const Json never_pushed = inspect(build("new", "b\n", {"--like", store()}, "new"));
  EXPECT_EQ(tags.at("seed"), shop.at("seed"));
  EXPECT_EQ(tags.at("seed"), never_pushed.at("seed"));
  EXPECT_EQ(inspect(build("other", "b\n", {"--seed-from", path("shop.ks")}, "other")).at("seed"),
            tags.at("seed"));
}

TEST_F(Build, NamesASnapshotBeforeThatIsOfAnotherSetMissingOrNone) {
  const std::string shop = build("shop", "a\n", {}, "shop");
  EXPECT_THAT(refused(65, {"--set", "tags", "--like", shop, keys_}), StartsWith(shop + ": is of set shop"));
  EXPECT_THAT(refused(66, {"--set", "tags", "--like", path("none.ks"), keys_}),
              StartsWith(path("none.ks") + ": "));
  EXPECT_THAT(refused(65, {"--set", "tags", "--like", keys_, keys_}),
              StartsWith(keys_ + ": is not a whole snapshot"));
  EXPECT_THAT(refused(66, {"--set", "tags", "--seed-from", path("none.ks"), keys_}),
              StartsWith(path("none.ks") + ": "));
}

TEST_F(Build, RefusesAListThatShrankAndNamesBothCounts) {
  build("before", numbered_lines(1000));
  const Words shrunk{"--set", "tags", "--like", path("before.ks"), write("shrunk.txt", numbered_lines(799))};
  EXPECT_THAT(refused(65, shrunk),
              AllOf(HasSubstr("\"tags\""), HasSubstr("from 1,000 to 799 keys"), HasSubstr("--allow-shrink")));
  build("new", numbered_lines(799), {"--like", path("before.ks"), "--allow-shrink"});
  build("new", numbered_lines(799), {"--like", path("before.ks"), "--max-shrink", "21%"});
  build("new", numbered_lines(800), {"--like", path("before.ks")});
}

TEST_F(Build, RefusesAListBelowTheLeastNumberOfKeys) {
  EXPECT_THAT(refused(65, {"--set", "tags", "--min-keys", "101", keys_}),
              AllOf(HasSubstr("has 100 keys, fewer than 101"), HasSubstr("--min-keys")));
  EXPECT_THAT(refused(65, {"--set", "tags", "--min-keys", "1k", keys_}), HasSubstr("fewer than 1,000"));
  build("new", numbered_lines(100), {"--min-keys", "100"});
}

TEST_F(Build, RefusesASetWhoseEstimatedRateIsTooHigh) {
  const std::string many = write("many.txt", numbered_lines(5000));
  EXPECT_THAT(refused(65, {"--set", "tags", "--max-fpr", "0.001%", many}),
              AllOf(HasSubstr("estimated FPR of "), HasSubstr("above 0.00100 %"), HasSubstr("--max-fpr")));
  build("new", numbered_lines(5000), {"--max-fpr", "1.1%"});
}

// With this seed these few keys happen to lie close together: 6.2 times the target.
TEST_F(Build, DoesNotRefuseASmallSetForABadDraw) {
  SnapshotBuilder unlucky({.set_name = "tags", .seed = 470});
  unlucky.add("a");
  const SnapshotBytes bytes = unlucky.finish();
  const std::string seed = write("seed.ks", std::string(as_text(bytes.get())));
  const Words options{"--seed-from", seed, "--fpr", "0.000001", "--shard-size", "1KiB"};
  const Json built = json({"inspect", build("few", numbered_lines(250), options)});
  EXPECT_GT(built.at("estimated_fpr"), 0.000006);
  EXPECT_LT(built.at("estimated_fpr"), 0.000007);
}

TEST_F(Build, RefusesASetThatLacksACanary) {
  const std::string canaries = write("canaries.txt", "w7\n猫\nw8\n");
  EXPECT_THAT(refused(65, {"--set", "tags", "--canaries", canaries, keys_}), HasSubstr("canary \"猫\""));
  EXPECT_EQ(refused(66, {"--set", "tags", "--canaries", path("none.txt"), keys_}),
            path("none.txt") + ": No such file or directory");
  build("new", numbered_lines(100) + "猫\n", {"--canaries", canaries});
}

TEST_F(Build, KeepsCountersBesideTheSnapshot) {
  const Words counting{"--kind", "bloom", "--counting", "--fpr", "0.01"};
  const std::string snapshot = build("new", numbered_lines(5'000), counting);
  const std::string counters = snapshot + ".counters";
  const Json inspected = json({"inspect", snapshot});
  const auto shard_bytes = inspected.at("shard_count").get<int>() * inspected.at("shard_bytes").get<int>();
  EXPECT_EQ(std::filesystem::file_size(counters), 64 + 4 * shard_bytes);
  const Words arguments{"build", "--set", "tags", "-o", snapshot, path("new.txt"), "--kind", "bloom"};
  Words with_counting = arguments;
  with_counting.emplace_back("--counting");
  EXPECT_THAT(said(with_counting), ContainsRegex("\ncounters +[0-9.]+ KiB in .*/new.ks.counters\n"));
  EXPECT_EQ(json(arguments).at("counters_bytes"), 0);
  EXPECT_FALSE(std::filesystem::exists(counters)) << "of the build before, they would fit no more";
}

TEST_F(Build, KeepsNoCountersForAKindThatCannotCount) {
  const Words arguments{"build",     "--set", "tags", "-o", path("new.ks"), write("new.txt", "a\n"),
                        "--counting"};
  EXPECT_THAT(refusal(64, arguments),
              AllOf(HasSubstr("split_block_bloom knows no --counting"), HasSubstr("bloom")));
  EXPECT_FALSE(std::filesystem::exists(path("new.ks")));
}

}  // namespace
}  // namespace keysieve::test
