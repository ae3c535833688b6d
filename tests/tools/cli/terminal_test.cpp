// What keysieve shows on a terminal, and asks there.
#include <filesystem>

#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

constexpr const char* kWipeLine = "\r\x1b[K";
constexpr const char* kRed = "\033[31m";

class OnTerminal : public KeysieveProgram {
 protected:
  // Runs it with standard error on a terminal, and these variables.
  [[nodiscard]] ProgramResult on_terminal(Words arguments, const Words& environment = {}) const {
    ProgramCall call = call_of(std::move(arguments));
    call.environment.insert(call.environment.begin(), environment.begin(), environment.end());
    call.errors_on_terminal = true;
    return run_program(call);
  }
  // Runs it on a terminal, where this is typed.
  [[nodiscard]] ProgramResult typing(const std::string& typed, Words arguments) const {
    ProgramCall call = call_of(std::move(arguments));
    call.typed = typed;
    return run_program(call);
  }

  const std::string keys_ = write("keys.txt", numbered_lines(20'000));
  // In one thread: a second might read so short a list before the first, which shows progress.
  const Words build_{"build", "--set", "tags", keys_, "-o", path("tags.ks"), "--threads", "1"};
};

TEST_F(OnTerminal, ShowsProgressAndWipesIt) {
  const std::string reading = "reading " + keys_ + ": 4,096 keys";
  const std::vector<std::pair<Words, Words>> calls{
      {build_, {reading, "building tags: 20,000 keys"}},
      {{"verify", path("tags.ks"), "--keys", keys_}, {"asking for " + keys_ + ": 4,096 keys"}},
      {{"push", path("tags.ks"), store()}, {"pushing to " + store() + ": ", " %)"}},
      {{"pull", store(), "tags", "-o", path("pulled.ks")}, {"pulling from " + store() + ": ", " %)"}},
  };
  for (const auto& [call, shown] : calls) {
    const ProgramResult result = on_terminal(call);
    EXPECT_EQ(result.exit_status, 0);
    for (const std::string& text : shown) EXPECT_THAT(result.errors, HasSubstr(text));
    EXPECT_THAT(result.errors, EndsWith(kWipeLine));
  }
}

TEST_F(OnTerminal, WipesProgressForAnError) {
  write("keys.txt", numbered_lines(20'000) + "a\r\n");
  const ProgramResult result = on_terminal(build_);
  EXPECT_EQ(result.exit_status, 65);
  EXPECT_THAT(result.errors, HasSubstr(kWipeLine + ("keysieve: " + keys_)));
}

TEST_F(OnTerminal, ColoursErrorsUnlessItIsToldNotTo) {
  const Words call{"status", "tags"};
  EXPECT_THAT(on_terminal(call, {"TERM=xterm", "NO_COLOR="}).errors, StartsWith(kRed));
  EXPECT_THAT(on_terminal(call, {"TERM=dumb", "NO_COLOR="}).errors, StartsWith("keysieve: "));
  EXPECT_THAT(on_terminal(call, {"TERM=xterm", "NO_COLOR=1"}).errors, StartsWith("keysieve: "));
}

TEST_F(OnTerminal, ColoursTheStateAndTheTrouble) {
  run(build_);
  run({"publish", path("tags.ks")});
  run({"bypass", "tags"});
  std::filesystem::create_directory(shared_memory() + "/never");
  ProgramCall call = call_of({"--quiet", "--command", "'" KEYSIEVE_PROGRAM "' status", "/dev/null"});
  call.program = "/usr/bin/script";
  call.environment.front() = "TERM=xterm";
  EXPECT_THAT(run_program(call).output, AllOf(HasSubstr("\033[31mmissing\033[0m   \033[31mmissing\033[0m"),
                                              HasSubstr("\033[33mbypassed\033[0m")));
}

TEST_F(OnTerminal, AsksBeforeARollbackAndBeforeItDeletes) {
  run(build_);
  run({"push", path("tags.ks"), store()});
  run({"build", "--set", "tags", keys_, "-o", path("tags.ks"), "--like", store()});
  run({"push", path("tags.ks"), store()});
  const auto generation = [&] { return said({"rollback", "tags", "--list", store()}).substr(0, 200); };
  const std::string before = generation();
  for (const auto& [verb, question] :
       {std::pair{"rollback", "Roll back? [y/N] "}, {"delete", "This cannot be undone. [y/N]"}}) {
    for (const char* no : {"n\n", "\n", "what?\n", "\4"}) {
      const ProgramResult declined = typing(no, {verb, "tags", store()});
      EXPECT_EQ(declined.exit_status, 1);
      EXPECT_THAT(declined.errors, HasSubstr(question));
      EXPECT_EQ(declined.output, "");
    }
    EXPECT_EQ(generation(), before);
  }
  for (const char* yes : {"y\n", "yes\n"}) {
    EXPECT_EQ(typing(yes, {"rollback", "tags", store()}).exit_status, 0);
    EXPECT_NE(generation(), before);
  }
  EXPECT_EQ(typing("y\n", {"delete", "tags", store()}).exit_status, 0);
  EXPECT_EQ(keysieve({"rollback", "tags", "--list", store()}).exit_status, 66);
}

}  // namespace
}  // namespace keysieve::test
