#include <filesystem>

#include "tests/tools/cli/build_program.hpp"

namespace keysieve::test {
namespace {

using namespace std::string_literals;

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

TEST_F(BuildWithKnownAbsentKeys, ReportsThemOnlyWhereTheyWereGiven) {
  const Words arguments{"build", "--set", "tags", keys_, "-o", path("tags.ks")};
  EXPECT_THAT(said(arguments), Not(HasSubstr("known absent")));
  EXPECT_THAT(json(arguments), has({{"known_absent_count", 0}, {"retrieval_bytes", 0}}));
  EXPECT_THAT(json(arguments + Words{"--known-absent", known_absent_}),
              has({{"known_absent_count", 20'000}}));
}

TEST_F(BuildWithKnownAbsentKeys, TakesAnEmptyListOfThem) {
  const Words arguments{"build", "--set",        "tags", keys_, "--known-absent", write("empty.txt", "\n"),
                        "-o",    path("tags.ks")};
  EXPECT_THAT(json(arguments), has({{"known_absent_count", 0}, {"known_absent_read", 0}}));
  run({"verify", path("tags.ks"), "--keys", keys_, "--known-absent", path("empty.txt")});
}

TEST_F(BuildWithKnownAbsentKeys, AnswersAbsentForAllOfThemInAnEmptySet) {
  const std::string empty = build("empty", "", {"--min-keys", "0", "--known-absent", known_absent_});
  EXPECT_THAT(json({"verify", empty, "--keys", path("empty.txt"), "--absent", known_absent_}),
              has({{"measured_fpr", 0.0}}));
  EXPECT_THAT(inspect(empty), has({{"key_count", 0}, {"known_absent_count", 20'000}}));
}

TEST_F(BuildWithKnownAbsentKeys, ReadsOneOfTheTwoListsFromStandardInput) {
  const Words build{"build", "--set", "tags", "-o", path("tags.ks"), "--known-absent"};
  const Words verify{"verify", path("tags.ks"), "--keys", keys_, "--known-absent", known_absent_};
  EXPECT_THAT(said(build + Words{known_absent_, "-"}, numbered_lines(100)), HasSubstr("100 distinct"));
  run(verify);
  EXPECT_THAT(said(build + Words{"-", keys_}, numbered_lines(20'000, "absent")), HasSubstr("20,000 keys"));
  run(verify);
  EXPECT_EQ(refused(64, {"--set", "tags", "--known-absent", "-", "-"}, "a\n"),
            "--known-absent: standard input is already the list of keys");
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

TEST_F(BuildWithKnownAbsentKeys, RefusesToCountThem) {
  EXPECT_THAT(
      refused(64, {"--set", "tags", "--kind", "bloom", "--counting", "--known-absent", known_absent_, keys_}),
      AllOf(HasSubstr("--counting"), HasSubstr("excludes"), HasSubstr("--known-absent")));
}

TEST_F(BuildWithKnownAbsentKeys, RefusesToOverwriteTheirList) {
  const std::string before = read(known_absent_);
  std::filesystem::create_hard_link(known_absent_, path("out.ks.counters"));
  for (const std::string& output : {known_absent_, path("out.ks")}) {
    EXPECT_THAT(refusal(64, {"build", "--set", "tags", "--known-absent", known_absent_, keys_, "-o", output}),
                AllOf(HasSubstr("would overwrite"), HasSubstr(known_absent_)));
  }
  EXPECT_EQ(read(known_absent_), before);
}

TEST_F(BuildWithKnownAbsentKeys, NamesTheirListWhenItIsMissing) {
  EXPECT_THAT(refused(66, {"--set", "tags", "--known-absent", path("none.txt"), keys_}),
              StartsWith(path("none.txt") + ": "));
}

TEST_F(BuildWithKnownAbsentKeys, RefusesShardsWithoutRoomForThem) {
  EXPECT_THAT(refused(64, {"--set", "tags", "--shard-size", "8KiB", "--known-absent", known_absent_, keys_}),
              HasSubstr("shards of 8192 bytes leave no room for known-absent keys"));
}

TEST_F(BuildWithKnownAbsentKeys, KeepsGeometryAndSeedOfTheSnapshotBefore) {
  const std::string keys = numbered_lines(20'000);
  const Words with{"--known-absent", known_absent_};
  const Json before = inspect(build("before", keys, with));
  const Json like = inspect(build("like", numbered_lines(19'990), with + Words{"--like", path("before.ks")}));
  for (const char* member : {"seed", "shard_count", "shard_bytes", "retrieval_bytes"}) {
    EXPECT_EQ(like.at(member), before.at(member)) << member;
  }
}

TEST_F(BuildWithKnownAbsentKeys, BeginsAndEndsHavingThemWhateverTheSnapshotBeforeHad) {
  const std::string keys = numbered_lines(5'000);
  const Words with{"--known-absent", known_absent_};
  const std::string without = build("without", keys);
  const std::string begun = build("begun", keys, with + Words{"--like", without});
  EXPECT_THAT(inspect(begun), has({{"known_absent_count", 20'000}, {"seed", inspect(without).at("seed")}}));
  run({"verify", begun, "--keys", path("begun.txt"), "--known-absent", known_absent_});
  const std::string ended = build("ended", keys, {"--like", begun});
  EXPECT_THAT(inspect(ended), has({{"known_absent_count", 0}, {"retrieval_bytes", 0}}));
  run({"verify", ended, "--keys", path("ended.txt")});
}

}  // namespace
}  // namespace keysieve::test
