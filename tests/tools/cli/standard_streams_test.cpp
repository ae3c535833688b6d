// The programs as cron and its wrappers run them: some or all standard streams closed. A store that got their
// number would get the messages, too.
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

class StandardStreams : public KeysieveProgram, public ::testing::WithParamInterface<std::string> {
 protected:
  // Runs it with these redirections of the shell.
  ProgramResult run_with(const std::string& redirections, const Words& arguments) const {
    ProgramCall call =
        call_of(Words{"-c", "exec \"$0\" \"$@\" " + redirections, KEYSIEVE_PROGRAM} + arguments);
    call.program = "/bin/sh";
    return run_program(call);
  }
};

INSTANTIATE_TEST_SUITE_P(Closed, StandardStreams, ::testing::Values("2>&-", ">&- 2>&-", "<&- >&- 2>&-"));

TEST_P(StandardStreams, WriteNothingIntoAStoreWhenTheyAreClosed) {
  const std::string snapshot = build("first", numbered_lines(100));
  push(snapshot);
  const std::string keys = write("keys", numbered_lines(200));
  // It warns, while "--like" has the store open, that the store does not have the set.
  const Words building{"build",  "--set", "other", "--fpr", "0.01",
                       "--like", store(), keys,    "-o",    path("other.ks")};
  EXPECT_EQ(run_with(GetParam(), building).exit_status, 0);
  EXPECT_EQ(run_with(GetParam(), {"push", path("other.ks"), store()}).exit_status, 0);
  EXPECT_EQ(run_with(GetParam(), {"add", "tags", "added", store()}).exit_status, 0);
  EXPECT_EQ(pull().at("key_count"), 100);
  EXPECT_EQ(pull(store(), "other").at("key_count"), 200);
}

TEST_F(StandardStreams, GiveNoListWithoutKeysWhenTheInputIsClosed) {
  EXPECT_EQ(
      run_with("<&-", {"build", "--set", "tags", "--fpr", "0.01", "-", "-o", path("tags.ks")}).exit_status,
      66);
  EXPECT_FALSE(std::filesystem::exists(path("tags.ks")));
}

TEST_F(StandardStreams, LeaveAMessageWhenAFileMayNotGrow) {
  const std::string keys = write("keys", numbered_lines(20'000));
  ProgramCall call = call_of({"-c", "ulimit -f 8; exec \"$0\" \"$@\"", KEYSIEVE_PROGRAM, "build", "--set",
                              "tags", keys, "-o", path("tags.ks")});
  call.program = "/bin/sh";
  const ProgramResult result = run_program(call);
  EXPECT_EQ(result.exit_status, 73);
  EXPECT_THAT(result.errors, AllOf(HasSubstr("tags.ks"), HasSubstr("File too large")));
}

}  // namespace
}  // namespace keysieve::test
