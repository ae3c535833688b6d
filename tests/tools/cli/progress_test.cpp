#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

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

TEST_F(Progress, IsShownOnlyOnATerminalAndWiped) {
  const std::string reading = "reading " + keys_ + ": 4,096 keys";
  const std::vector<std::pair<Words, Words>> calls{
      {build_, {reading, "building tags: 20,000 keys"}},
      {{"verify", path("tags.ks"), "--keys", keys_}, {"asking for " + keys_ + ": 4,096 keys"}},
      {{"push", path("tags.ks"), store()}, {"pushing to " + store() + ": ", " %)"}},
      {{"pull", store(), "tags", "-o", path("pulled.ks")}, {"pulling from " + store() + ": ", " %)"}},
      {{"gc", store()}, {"looking through " + store() + ": listing"}},
  };
  for (const auto& [call, shown] : calls) {
    const ProgramResult result = on_terminal(call);
    EXPECT_EQ(result.exit_status, 0);
    for (const std::string& text : shown) EXPECT_THAT(result.errors, HasSubstr(text));
    EXPECT_THAT(result.errors, EndsWith(kWipeLine));
    run(call);  // not on a terminal: nothing on standard error
  }
}

TEST_F(Progress, GivesWayToAnError) {
  write("keys.txt", numbered_lines(20'000) + "a\r\n");
  const ProgramResult result = on_terminal(build_);
  EXPECT_EQ(result.exit_status, 65);
  EXPECT_THAT(result.errors, HasSubstr(kWipeLine + ("keysieve: " + keys_) + ": line 20001 ends in a CR"));
}

}  // namespace
}  // namespace keysieve::test
