// What happens to what keysieve prints: written, or the exit status says that it was not.
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

class Output : public KeysieveProgram {};

using ::testing::HasSubstr;

TEST_F(Output, AFullDiskUnderStandardOutputIsCannotCreate) {
  ProgramCall call = call_of({"plan", "--keys", "1000"});
  call.output_to = "/dev/full";
  const ProgramResult result = run_program(call);
  EXPECT_EQ(result.exit_status, 73);
  EXPECT_THAT(result.errors, HasSubstr("standard output: No space left on device"));
}

TEST_F(Output, QueryThatCannotSayItsAnswerFails) {
  ProgramCall call = call_of({"query", "tags", "--file", build("tags", "cat\n"), "cat"});
  call.output_to = "/dev/full";
  EXPECT_EQ(run_program(call).exit_status, 2);
}

TEST_F(Output, ALongFilteredStreamThatCannotBeWrittenFails) {
  const std::string lines = numbered_lines(20'000);
  ProgramCall call = call_of({"query", "tags", "--file", build("tags", lines), "--stdin"}, lines);
  call.output_to = "/dev/full";
  const ProgramResult result = run_program(call);
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_THAT(result.errors, HasSubstr("No space left on device"));
}

}  // namespace
}  // namespace keysieve::test
