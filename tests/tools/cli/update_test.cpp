#include <unistd.h>

#include <filesystem>

#include "core/base/clock.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Update : public KeysieveProgram, public ::testing::WithParamInterface<StoreKind> {
 protected:
  Update() {
    const Words options{"--growth", "2", "--as-of", "@1700000000", "--adds-from", "5-6"};
    static_cast<void>(said({"push", build("base", numbered_lines(5'000), options), url_}));
  }

  // The current generation, in pulled.ks.
  [[nodiscard]] Json pulled() const {
    static_cast<void>(said({"pull", url_, "tags", "-o", path("pulled.ks")}));
    return json({"inspect", path("pulled.ks")});
  }
  void expect_all_maybe(const std::string& keys) const {
    EXPECT_EQ(json({"verify", path("pulled.ks"), "--keys", write("all.txt", keys)}).at("false_negatives"), 0);
  }

  const std::string url_ = GetParam().empty_store(directory_);
};

TEST_P(Update, MakesTheNextGenerationWithOldAndNewKeys) {
  const std::string added = numbered_lines(6'000);
  const UnixSeconds before = unix_now();
  const Json report = json({"update", "tags", "--add", write("new.txt", added), url_});
  EXPECT_EQ(report.at("set"), "tags");
  EXPECT_EQ(report.at("store"), store_name(url_));
  EXPECT_EQ(report.at("generation"), 2);
  EXPECT_EQ(report.at("keys_read"), 6'000);
  EXPECT_LE(report.at("new_keys"), 1'000);
  EXPECT_GE(report.at("new_keys"), 990);
  EXPECT_EQ(report.at("key_count"), 5'000 + report.at("new_keys").get<int>());
  const Json snapshot = pulled();
  EXPECT_EQ(snapshot.at("estimated_fpr"), report.at("estimated_fpr"));
  EXPECT_EQ(snapshot.at("key_count"), report.at("key_count"));
  EXPECT_EQ(snapshot.at("as_of"), report.at("as_of"));
  EXPECT_GE(snapshot.at("as_of"), before);
  EXPECT_EQ(snapshot.at("adds_from"), "5-6") << "as in the base: the log may hold more than was added";
  EXPECT_NE(snapshot.at("build_id"), json({"inspect", path("base.ks")}).at("build_id"));
  expect_all_maybe(added);
}

TEST_P(Update, TakesManyListsAndStandardInput) {
  const std::string one = write("one.txt", "猫\n\n犬\n");
  EXPECT_THAT(said({"update", "--add", one, "--add", "-", "tags", url_}, "鳥\n"),
              AllOf(ContainsRegex("generation +2\n"), ContainsRegex("keys read +3\n"),
                    ContainsRegex("new keys +[0-3] at least\n"), ContainsRegex("estimated FPR +0\\.")));
  static_cast<void>(pulled());
  expect_all_maybe(numbered_lines(5'000) + "猫\n犬\n鳥\n");
}

TEST_P(Update, TakesTheMomentFromWhichTheListIs) {
  const std::string added = write("new.txt", "a\n");
  EXPECT_EQ(json({"update", "tags", "--add", added, "--as-of", "@1700000060", url_}).at("as_of"),
            1'700'000'060);
  EXPECT_EQ(json({"update", "tags", "--add", added, "--as-of", "@5", url_}).at("as_of"), 1'700'000'060)
      << "a set does not become older";
}

TEST_P(Update, IsRefusedWhenTheSetIsFull) {
  const std::string many = write("many.txt", numbered_lines(40'000));
  EXPECT_THAT(refusal(65, {"update", "tags", "--add", many, url_}),
              AllOf(HasSubstr("estimated FPR of "), HasSubstr("above 3.00 %"), HasSubstr("build --like")));
  EXPECT_EQ(pulled().at("key_count"), 5'000);
  static_cast<void>(said({"update", "tags", "--add", many, "--max-fpr", "100%", url_}));
}

TEST_P(Update, RemovesKeysFromAKindThatCan) {
  const Words options{"--kind", "cuckoo", "--growth", "2", "--fpr", "0.000001"};
  static_cast<void>(said({"push", build("bans", numbered_lines(5'000), options, "bans"), url_}));
  const std::string gone = write("gone.txt", "w7\nw8\nw9\nw7\n");
  const Json report = json({"update", "bans", "--add", write("new.txt", "猫\n"), "--remove", gone, url_});
  EXPECT_EQ(report.at("keys_to_remove"), 3) << "w7 once";
  EXPECT_EQ(report.at("removed_keys"), 3);
  EXPECT_EQ(report.at("key_count"), 5'000 + 1 - 3);
  EXPECT_EQ(json({"pull", url_, "bans", "-o", path("pulled.ks")}).at("key_count"), report.at("key_count"));
  const std::string kept = write("kept.txt", "猫\nw6\nw10\n");
  EXPECT_EQ(json({"verify", path("pulled.ks"), "--keys", kept, "--absent", gone}).at("measured_fpr"), 0.0);
  EXPECT_THAT(refusal(64, {"update", "bans", "--add", gone, "--remove", gone, url_}),
              HasSubstr("to add and to remove"));
}

TEST_P(Update, RemovesKeysFromACountingSet) {
  const Words options{"--kind", "bloom", "--counting", "--growth", "2", "--fpr", "0.000001"};
  static_cast<void>(said({"push", build("bans", numbered_lines(5'000), options, "bans"), url_}));
  const std::string gone = write("gone.txt", "w7\nw8\n");
  const Json report = json({"update", "bans", "--remove", gone, url_});
  EXPECT_EQ(report.at("removed_keys"), 2);
  EXPECT_EQ(report.at("key_count"), 5'000 - 2);
  EXPECT_EQ(json({"pull", url_, "bans", "-o", path("pulled.ks")}).at("kind"), "bloom");
  EXPECT_FALSE(std::filesystem::exists(path("pulled.ks.counters"))) << "for update alone";
  const std::string kept = write("kept.txt", "w6\nw10\n");
  EXPECT_EQ(json({"verify", path("pulled.ks"), "--keys", kept, "--absent", gone}).at("measured_fpr"), 0.0);
}

TEST_P(Update, WarnsOfKeysThatAreNotThereToRemove) {
  const Words options{"--kind", "bloom", "--counting", "--growth", "2", "--fpr", "0.000001"};
  static_cast<void>(said({"push", build("bans", numbered_lines(5'000), options, "bans"), url_}));
  static_cast<void>(said({"update", "bans", "--remove", write("gone.txt", "w7\n"), url_}));
  const std::string more = write("more.txt", "w9\nw7\nnobody has this\n");
  const ProgramResult result = keysieve({"update", "bans", "--remove", more, url_});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(
      result.errors,
      HasSubstr("warning: set \"bans\": 2 of 3 keys to remove were not removed: they are certainly not"));
  EXPECT_THAT(result.output, AllOf(ContainsRegex("new keys +0\n"), ContainsRegex("removed keys +1 of 3\n"),
                                   ContainsRegex("\nkeys +4,998\n")));
}

TEST_P(Update, SaysWhatToDoWhereNothingCanBeRemoved) {
  EXPECT_THAT(
      refusal(64, {"update", "tags", "--remove", write("gone.txt", "w1\n"), url_}),
      AllOf(HasSubstr("split_block_bloom"), HasSubstr("kinds that can: "), HasSubstr("build --like")));
  EXPECT_EQ(read(path("base.ks")).size(), pulled().at("bytes"));
}

TEST_P(Update, RefusesWhatCannotBeMeant) {
  const std::string added = write("new.txt", "a\n");
  EXPECT_THAT(refusal(64, {"update", "tags", url_}), HasSubstr("--add"));
  EXPECT_THAT(refusal(64, {"update", "Tags", "--add", added, url_}), HasSubstr("set name \"Tags\""));
  EXPECT_THAT(refusal(64, {"update", "tags", "--add", added}), HasSubstr("URL"));
  EXPECT_THAT(refusal(64, {"update", "tags", "--add", added, added}), HasSubstr("a store's URL begins with"));
  EXPECT_THAT(refusal(66, {"update", "shop", "--add", added, url_}),
              HasSubstr("set \"shop\" was never pushed"));
  EXPECT_EQ(refusal(66, {"update", "tags", "--add", path("none.txt"), url_}),
            path("none.txt") + ": No such file or directory");
  EXPECT_THAT(refusal(65, {"update", "tags", "--add", "-", url_}, "a\r\n"),
              StartsWith("standard input: line 1 ends in a CR"));
  for (const std::string scheme : {"lmdb:", "dir:"}) {
    EXPECT_THAT(refusal(69, {"update", "tags", "--add", added, scheme + path("none")}),
                HasSubstr(path("none")));
  }
  EXPECT_FALSE(std::filesystem::exists(path("none")));
}

INSTANTIATE_TEST_SUITE_P(EveryStore, Update, every_store, store_kind_name);

}  // namespace
}  // namespace keysieve::test
