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
  run({"add", "tags", "added", store()});
  const std::string more = write("more", numbered_lines(200));
  // "--like" has the store open while the build warns that the set is new.
  run_with(GetParam(), {"build", "--set", "other", "--like", store(), more, "-o", path("other.ks")});
  run_with(GetParam(), {"push", "--min-keys", "1000", path("other.ks"), store()});
  run_with(GetParam(), {"push", path("other.ks"), store()});
  run_with(GetParam(), {"add", "tags", "added-later", store()});
  run_with(GetParam(), {"add", "nonsense", "added", store()});
  EXPECT_THAT(said({"list", store()}), AllOf(HasSubstr("tags"), HasSubstr("other")));
  EXPECT_EQ(pull(store()).at("keys"), 100);
}

TEST_F(StandardStreams, AreAnErrorWhereTheOutputIsNeeded) {
  const std::string snapshot = build("first", numbered_lines(100));
  EXPECT_NE(run_with(">&-", {"inspect", snapshot}).exit_status, 0);
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
