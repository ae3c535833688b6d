#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

constexpr const char* kWipeLine = "\r\x1b[K";

class Progress : public KeysieveProgram {
 protected:
  [[nodiscard]] ProgramResult on_terminal(Words arguments) const {
    ProgramCall call = call_of(std::move(arguments));
    call.errors_on_terminal = true;
    return run_program(call);
  }

  const std::string keys_ = write("keys.txt", numbered_lines(20'000));
  // In one thread: a second might read so short a list before the first, which shows progress.
  const Words build_{"build", "--set", "tags", keys_, "-o", path("tags.ks"), "--threads", "1"};
};

TEST_F(Progress, IsShownOnATerminalAndWiped) {
  const ProgramResult built = on_terminal(build_);
  EXPECT_EQ(built.exit_status, 0);
  EXPECT_THAT(built.errors, AllOf(HasSubstr("reading " + keys_ + ": 4,096 keys"),
                                  HasSubstr("building tags: 20,000 keys"), EndsWith(kWipeLine)));
  EXPECT_THAT(on_terminal({"verify", path("tags.ks"), "--keys", keys_}).errors,
              AllOf(HasSubstr("asking for " + keys_ + ": 4,096 keys"), EndsWith(kWipeLine)));
  EXPECT_THAT(on_terminal({"push", path("tags.ks"), store()}).errors,
              AllOf(HasSubstr("pushing to " + store() + ": "), HasSubstr(" %)"), EndsWith(kWipeLine)));
  EXPECT_THAT(on_terminal({"pull", store(), "tags", "-o", path("pulled.ks")}).errors,
              AllOf(HasSubstr("pulling from " + store() + ": "), HasSubstr(" %)"), EndsWith(kWipeLine)));
  EXPECT_THAT(on_terminal({"gc", store()}).errors,
              AllOf(HasSubstr("looking through " + store() + ": listing"), EndsWith(kWipeLine)));
}

TEST_F(Progress, IsNotShownElsewhere) {
  EXPECT_EQ(keysieve(build_).errors, "");
  EXPECT_EQ(keysieve({"verify", path("tags.ks"), "--keys", keys_}).errors, "");
  EXPECT_EQ(keysieve({"push", path("tags.ks"), store()}).errors, "");
  EXPECT_EQ(keysieve({"pull", store(), "tags", "-o", path("pulled.ks")}).errors, "");
}

TEST_F(Progress, GivesWayToAnError) {
  write("keys.txt", numbered_lines(20'000) + "a\r\n");
  const ProgramResult result = on_terminal(build_);
  EXPECT_EQ(result.exit_status, 65);
  EXPECT_THAT(result.errors, HasSubstr(kWipeLine + ("keysieve: " + keys_) + ": line 20001 ends in a CR"));
}

}  // namespace
}  // namespace keysieve::test
