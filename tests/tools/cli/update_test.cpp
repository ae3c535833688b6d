// keysieve update. How keys go into a generation and out of it is proved in tests/tools/transfer.
#include <filesystem>

#include "core/worker/base/clock.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

class Update : public KeysieveProgram {
 protected:
  Update() {
    const Words options{"--growth", "2", "--as-of", "@1700000000", "--adds-from", "5-6"};
    push(build("base", numbered_lines(5'000), options));
  }

  [[nodiscard]] static Words update(const std::string& url, const Words& options) {
    return Words{"update", "tags", url} + options;
  }
  [[nodiscard]] Words update(const Words& options) const { return update(store(), options); }
  // The current generation, in pulled.ks.
  [[nodiscard]] Json pulled() const {
    EXPECT_THAT(pull(), has({{"set", "tags"}}));
    return inspect(path("pulled.ks"));
  }
  void expect_all_maybe(const std::string& keys) const {
    run({"verify", path("pulled.ks"), "--keys", write("all.txt", keys)});
  }
  // A store whose set "tags" has w0 to w4999 and a kind that keys can be removed from.
  [[nodiscard]] std::string store_of(const Words& kind) const {
    const std::string url = "dir:" + path("files");
    push(build("bans", numbered_lines(5'000), kind + Words{"--growth", "2", "--fpr", "0.000001"}), url);
    return url;
  }
};

TEST_F(Update, MakesTheNextGenerationWithOldAndNewKeys) {
  const std::string added = numbered_lines(6'000);
  const UnixSeconds before = unix_now();
  const Json report = json(update({"--add", write("new.txt", added)}));
  const int new_keys = report.at("new_keys");
  EXPECT_LE(new_keys, 1'000);
  EXPECT_GE(new_keys, 990);
  EXPECT_THAT(report, has({{"set", "tags"},
                           {"store", store()},
                           {"generation", 2},
                           {"keys_read", 6'000},
                           {"key_count", 5'000 + new_keys}}));
  const Json snapshot = pulled();
  for (const char* member : {"estimated_fpr", "key_count", "as_of"}) {
    EXPECT_EQ(snapshot.at(member), report.at(member)) << member;
  }
  EXPECT_GE(snapshot.at("as_of"), before);
  EXPECT_EQ(snapshot.at("adds_from"), "5-6") << "as in the base: the log may hold more than was added";
  expect_all_maybe(added);
}

TEST_F(Update, TakesManyListsAndStandardInput) {
  const std::string one = write("one.txt", "猫\n\n犬\n");
  EXPECT_THAT(said(update({"--add", one, "--add", "-"}), "鳥\n"),
              AllOf(ContainsRegex("generation +2\n"), ContainsRegex("keys read +3\n"),
                    ContainsRegex("new keys +at least [0-3]\n"), ContainsRegex("estimated FPR +0\\.")));
  EXPECT_THAT(pulled(), has({{"set", "tags"}}));
  expect_all_maybe(numbered_lines(5'000) + "猫\n犬\n鳥\n");
}

TEST_F(Update, TakesTheMomentOfTheListUnlessTheSetWouldBecomeOlder) {
  const std::string added = write("new.txt", "a\n");
  for (const char* as_of : {"@1700000060", "@5"}) {
    EXPECT_EQ(json(update({"--add", added, "--as-of", as_of})).at("as_of"), 1'700'000'060) << as_of;
  }
}

TEST_F(Update, RemovesKeysFromAKindThatCanAndWarnsOfThoseThatAreNotThere) {
  const std::string gone = write("gone.txt", "w7\nw8\nw9\nw7\n");
  const std::string more = write("more.txt", "w10\nw7\nnobody has this\n");
  for (const Words& kind : {Words{"--kind", "cuckoo"}, Words{"--kind", "bloom", "--counting"}}) {
    const std::string url = store_of(kind);
    EXPECT_THAT(json(update(url, {"--add", write("new.txt", "猫\n"), "--remove", gone})),
                has({{"keys_to_remove", 3}, {"removed_keys", 3}, {"key_count", 5'000 + 1 - 3}}))
        << "w7 once";
    EXPECT_THAT(pull(url), has({{"set", "tags"}}));
    EXPECT_FALSE(std::filesystem::exists(path("pulled.ks.counters"))) << "for update alone";
    EXPECT_THAT(
        json({"verify", path("pulled.ks"), "--keys", write("kept.txt", "猫\nw6\nw10\n"), "--absent", gone}),
        has({{"measured_fpr", 0.0}}));
    const ProgramResult result = keysieve(update(url, {"--remove", more}));
    EXPECT_EQ(result.exit_status, 0);
    EXPECT_THAT(result.errors, HasSubstr("warning: set \"tags\": removed 1 of 3 keys; the rest is certainly "
                                         "not in the set"));
    EXPECT_THAT(result.output, AllOf(ContainsRegex("new keys +0\n"), ContainsRegex("removed keys +1 of 3\n"),
                                     ContainsRegex("\nkeys +4,997\n")));
    std::filesystem::remove_all(path("files"));
  }
}

TEST_F(Update, RefusesWhatCannotBeDone) {
  const std::string one = write("one.txt", "w1\n");
  const std::string table = write("new.csv", "1,cat\n2,dog\n3,cow\n");
  const std::string many = write("many.txt", numbered_lines(40'000));
  const std::string update_tags = "update tags " + store();
  expect_refusals(64, {{update_tags + " --remove " + one, "kinds that can: "},
                       {update_tags + " --add " + one + " --remove " + one, "to add and to remove"},
                       {update_tags, "give a list of keys to --add or --remove"}});
  expect_refusals(65, {{update_tags + " --add " + table, "(--allow-suspect-keys if that is intended)"},
                       {update_tags + " --add " + many, "above 3.00 %; --max-fpr"}});
  EXPECT_THAT(pulled(), has({{"key_count", 5'000}}));
  run(update({"--add", many, "--max-fpr", "100%"}));
  const std::string url = store_of({"--kind", "cuckoo", "--known-absent", write("absent.txt", "a\nb\n")});
  for (const char* change : {"--add", "--remove"}) {
    EXPECT_THAT(refusal(64, update(url, {change, one})),
                AllOf(HasSubstr("set \"tags\": was built with --known-absent"),
                      HasSubstr("keysieve add makes new keys maybe")))
        << change;
  }
}

}  // namespace
}  // namespace keysieve::test
