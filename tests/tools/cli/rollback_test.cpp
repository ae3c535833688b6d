#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

// Generations 1, 2 and 3 of the set "tags", of 250, 280 and 300 keys.
class Rollback : public KeysieveProgram {
 protected:
  Rollback() {
    for (const int keys : {250, 280, 300}) {
      const Words options{"--like", seed_, "--as-of", "@1700000000", "--adds-from", "5-6"};
      push(build(std::to_string(keys), numbered_lines(keys), options));
    }
  }

  [[nodiscard]] int key_count() const { return pull().at("key_count"); }

  const std::string seed_ = build("seed", numbered_lines(1));
};

TEST_F(Rollback, BringsBackTheGenerationBeforeOrTheOneThatIsAskedFor) {
  EXPECT_THAT(
      said({"rollback", "tags", "--yes", store()}),
      AllOf(ContainsRegex("was +generation 3: as of 2023-11-14T22:13:20Z, 300 keys, split_block_bloom\n"),
            ContainsRegex("is +generation 2: as of 2023-11-14T22:13:20Z, 280 keys, split_block_bloom\n"),
            ContainsRegex("now called +generation 4\n")));
  EXPECT_EQ(key_count(), 280);
  EXPECT_THAT(json({"rollback", "tags", "--to", "1", "--yes", store()}),
              has({{"replaces", 4}, {"restores", 1}, {"generation", 5}, {"key_count", 250}}));
  EXPECT_EQ(key_count(), 250);
  EXPECT_EQ(refusal(64, {"rollback", "tags", "--yes", "--to", "9", store()}),
            store() + ": set \"tags\": generation 9 is not kept; kept: 5 (current), 4, 3");
}

TEST_F(Rollback, ListsWhatIsKept) {
  run({"rollback", "tags", "--yes", store()});
  EXPECT_THAT(said({"rollback", "tags", "--list", store()}),
              AllOf(ContainsRegex("generation +state +as of +keys +kind +size +restores +adds from\n"),
                    ContainsRegex("\n +4 +current +2023[^\n]+ +280 +split_block_bloom +[^\n]+ +2 +5-6\n"),
                    ContainsRegex("\n +3 +kept [^\n]+ +- +5-6\n"), ContainsRegex("\n +1 +kept ")));
  const Json list = json({"rollback", "tags", "--list", store()}).at("generations");
  ASSERT_EQ(list.size(), 3U);
  EXPECT_THAT(list.at(0), has({{"restores", 2}, {"current", true}, {"adds_from", "5-6"}}));
  EXPECT_THAT(list.at(1), has({{"restores", nullptr}, {"current", false}}));
}

TEST_F(Rollback, AsksOnATerminalAndChangesNothingUnlessTheAnswerIsYes) {
  for (const char* no : {"n\n", "\n", "what?\n", "\4"}) {
    const ProgramResult declined = keysieve_typing(no, {"rollback", "tags", store()});
    EXPECT_EQ(declined.exit_status, 1);
    EXPECT_THAT(declined.errors, HasSubstr("keysieve: nothing is changed"));
    EXPECT_EQ(declined.output, "");
  }
  EXPECT_EQ(key_count(), 300);
  for (const char* yes : {"y\n", "yes\n"}) {
    const int before = key_count();
    const ProgramResult done = keysieve_typing(yes, {"rollback", "tags", store()});
    EXPECT_EQ(done.exit_status, 0) << done.errors;
    EXPECT_THAT(done.errors, AllOf(HasSubstr("set \"tags\" of " + store()), HasSubstr("from  generation "),
                                   HasSubstr("to    generation "), HasSubstr("Roll back? [y/N] ")));
    EXPECT_THAT(done.output, HasSubstr("now called"));
    EXPECT_NE(key_count(), before);
  }
}

TEST_F(Rollback, SaysWhatItWouldDoWithoutATerminal) {
  EXPECT_THAT(refusal(64, {"rollback", "tags", store()}, "y\n"),
              AllOf(StartsWith(store() + ": set \"tags\" would go from generation 3: as of 2023"),
                    HasSubstr(", 300 keys, split_block_bloom back to generation 2: as of "),
                    HasSubstr(", and lose at least 6.67 % of the keys"),
                    EndsWith("; --yes does it without a terminal")));
  EXPECT_EQ(key_count(), 300);
}

TEST_F(Rollback, SaysNothingOfALossIfTheKeysGetMore) {
  run({"rollback", "tags", "--yes", store()});
  const std::string back = refusal(64, {"rollback", "tags", store()});
  EXPECT_THAT(back, EndsWith(", 300 keys, split_block_bloom; --yes does it without a terminal"));
  EXPECT_THAT(keysieve_typing("n\n", {"rollback", "tags", store()}).errors, Not(HasSubstr("loses")));
  EXPECT_THAT(said({"rollback", "tags", "--yes", store()}), Not(HasSubstr("lost")));
  EXPECT_EQ(key_count(), 300);
  run({"rollback", "tags", "--yes", store()});
  EXPECT_EQ(json({"rollback", "tags", "--yes", store()}).at("lost_share"), 0.0);
}

TEST_F(Rollback, SaysWhatItPassesOverAndListMarksIt) {
  run({"push", "--allow-shrink", build("half", numbered_lines(140), {"--like", seed_}), store()});
  push(build("next", numbered_lines(310), {"--like", seed_}));
  EXPECT_THAT(said({"rollback", "tags", "--list", store()}),
              ContainsRegex("\n +4 +kept, 54.8 % fewer keys "));
  EXPECT_THAT(json({"rollback", "tags", "--list", store()}).at("generations").at(1).at("suspect_loss"),
              ::testing::Gt(0.5));
  const ProgramResult done = run_program(call_of({"rollback", "tags", "--yes", store()}));
  EXPECT_THAT(done.errors, HasSubstr("passed over generation 4: "));
  EXPECT_THAT(done.output, ContainsRegex("lost +at least 3.23 % of the keys\n"));
  EXPECT_EQ(key_count(), 300);
}

}  // namespace
}  // namespace keysieve::test
