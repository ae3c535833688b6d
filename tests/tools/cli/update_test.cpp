#include <filesystem>

#include "core/worker/base/clock.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

class Update : public KeysieveWithStore {
 protected:
  Update() {
    const Words options{"--growth", "2", "--as-of", "@1700000000", "--adds-from", "5-6"};
    push(build("base", numbered_lines(5'000), options), url_);
  }

  // The current generation, in pulled.ks.
  [[nodiscard]] Json pulled() const {
    EXPECT_THAT(pull(url_), has({{"set", "tags"}}));
    return inspect(path("pulled.ks"));
  }
  void expect_all_maybe(const std::string& keys) const {
    run({"verify", path("pulled.ks"), "--keys", write("all.txt", keys)});
  }
  // Pushes the set "bans" of a kind that keys can be removed from, of w0 to w4999.
  void push_bans(const Words& kind) const {
    const Words options = kind + Words{"--growth", "2", "--fpr", "0.000001"};
    push(build("bans", numbered_lines(5'000), options, "bans"), url_);
  }
  void expect_bans(const std::string& kept, const std::string& gone) const {
    EXPECT_THAT(pull(url_, "bans"), has({{"set", "bans"}}));
    const Words lists{"--keys", write("kept.txt", kept), "--absent", gone};
    EXPECT_THAT(json(Words{"verify", path("pulled.ks")} + lists), has({{"measured_fpr", 0.0}}));
  }
};

TEST_P(Update, MakesTheNextGenerationWithOldAndNewKeys) {
  const std::string added = numbered_lines(6'000);
  const UnixSeconds before = unix_now();
  const Json report = json({"update", "tags", "--add", write("new.txt", added), url_});
  const int new_keys = report.at("new_keys");
  EXPECT_LE(new_keys, 1'000);
  EXPECT_GE(new_keys, 990);
  EXPECT_THAT(report, has({{"set", "tags"},
                           {"store", store_name(url_)},
                           {"generation", 2},
                           {"keys_read", 6'000},
                           {"key_count", 5'000 + new_keys}}));
  const Json snapshot = pulled();
  for (const char* member : {"estimated_fpr", "key_count", "as_of"}) {
    EXPECT_EQ(snapshot.at(member), report.at(member)) << member;
  }
  EXPECT_GE(snapshot.at("as_of"), before);
  EXPECT_EQ(snapshot.at("adds_from"), "5-6") << "as in the base: the log may hold more than was added";
  EXPECT_NE(snapshot.at("build_id"), inspect(path("base.ks")).at("build_id"));
  expect_all_maybe(added);
}

TEST_P(Update, TakesManyListsAndStandardInput) {
  const std::string one = write("one.txt", "猫\n\n犬\n");
  EXPECT_THAT(said({"update", "--add", one, "--add", "-", "tags", url_}, "鳥\n"),
              AllOf(ContainsRegex("generation +2\n"), ContainsRegex("keys read +3\n"),
                    ContainsRegex("new keys +at least [0-3]\n"), ContainsRegex("estimated FPR +0\\.")));
  EXPECT_THAT(pulled(), has({{"set", "tags"}}));
  expect_all_maybe(numbered_lines(5'000) + "猫\n犬\n鳥\n");
}

TEST_P(Update, TakesTheMomentOfTheList) {
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
  run({"update", "tags", "--add", many, "--max-fpr", "100%", url_});
}

TEST_P(Update, IsRefusedWhenTheSetHasKnownAbsentKeys) {
  const Words options{"--growth", "2", "--known-absent", write("absent.txt", "a\nb\n")};
  push(build("shop", numbered_lines(100), options, "shop"), url_);
  const std::string one = write("one.txt", "a\n");
  EXPECT_THAT(refusal(64, {"update", "shop", "--add", one, url_}),
              AllOf(HasSubstr("set \"shop\": was built with --known-absent"),
                    HasSubstr("keysieve add makes new keys maybe")));
  EXPECT_THAT(pull(url_, "shop"), has({{"generation", 1}, {"known_absent_count", 2}}));
  push_bans({"--kind", "cuckoo", "--known-absent", path("absent.txt")});
  for (const char* change : {"--add", "--remove"}) {
    EXPECT_THAT(refusal(64, {"update", "bans", change, one, url_}),
                HasSubstr("was built with --known-absent"))
        << change;
  }
}

TEST_P(Update, RemovesKeysFromAKindThatCan) {
  push_bans({"--kind", "cuckoo"});
  const std::string gone = write("gone.txt", "w7\nw8\nw9\nw7\n");
  EXPECT_THAT(json({"update", "bans", "--add", write("new.txt", "猫\n"), "--remove", gone, url_}),
              has({{"keys_to_remove", 3}, {"removed_keys", 3}, {"key_count", 5'000 + 1 - 3}}))
      << "w7 once";
  expect_bans("猫\nw6\nw10\n", gone);
  EXPECT_THAT(refusal(64, {"update", "bans", "--add", gone, "--remove", gone, url_}),
              HasSubstr("to add and to remove"));
}

TEST_P(Update, RemovesKeysFromACountingSetAndWarnsOfThoseThatAreNotThere) {
  push_bans({"--kind", "bloom", "--counting"});
  const std::string gone = write("gone.txt", "w7\nw8\n");
  EXPECT_THAT(json({"update", "bans", "--remove", gone, url_}),
              has({{"removed_keys", 2}, {"key_count", 4'998}}));
  expect_bans("w6\nw10\n", gone);
  EXPECT_FALSE(std::filesystem::exists(path("pulled.ks.counters"))) << "for update alone";
  const std::string more = write("more.txt", "w9\nw7\nnobody has this\n");
  const ProgramResult result = keysieve({"update", "bans", "--remove", more, url_});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.errors,
              HasSubstr("warning: set \"bans\": removed 1 of 3 keys; the rest is certainly not in the set"));
  EXPECT_THAT(result.output, AllOf(ContainsRegex("new keys +0\n"), ContainsRegex("removed keys +1 of 3\n"),
                                   ContainsRegex("\nkeys +4,997\n")));
}

TEST_P(Update, RefusesWhatCannotBeDone) {
  EXPECT_THAT(
      refusal(64, {"update", "tags", "--remove", write("gone.txt", "w1\n"), url_}),
      AllOf(HasSubstr("split_block_bloom"), HasSubstr("kinds that can: "), HasSubstr("build --like")));
  EXPECT_THAT(refusal(64, {"update", "tags", url_}), HasSubstr("give a list of keys to --add or --remove"));
  EXPECT_THAT(refusal(65, {"update", "tags", "--add", write("new.csv", "1,cat\n2,dog\n3,cow\n"), url_}),
              AllOf(HasSubstr("2 columns"), HasSubstr("--allow-suspect-keys")));
  EXPECT_THAT(pulled(), has({{"key_count", 5'000}}));
}

INSTANTIATE_TEST_SUITE_P(EveryStore, Update, every_store_to_push_to, store_kind_name);

}  // namespace
}  // namespace keysieve::test
