// keysieve build with a limit of memory, less than sanitizers take, and with threads.
#include <filesystem>

#include "tests/support/mounts.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

constexpr std::size_t kHeaderBytes = 4096;  // with build id and moment

class BuildResources : public KeysieveProgram {
 protected:
  [[nodiscard]] Words build_of(const std::string& keys, const Words& options,
                               const std::string& name = "new") const {
    return Words{"build", "--set", "tags", keys, "-o", path(name + ".ks")} + options;
  }

  // What /usr/bin/time saw of that call, in bytes. What wait4(2) says of a child counts what was in memory
  // before it was executed, too: a copy of this suite.
  [[nodiscard]] std::uint64_t peak_of(Words arguments) const {
    ProgramCall call = call_of(std::move(arguments));
    call.arguments.insert(call.arguments.begin(), {"-f", "%M", "-o", path("peak"), call.program});
    call.program = "/usr/bin/time";
    const ProgramResult result = run_program(call);
    EXPECT_EQ(result.exit_status, 0) << result.errors;
    return std::stoull(read(path("peak"))) * 1024;
  }

  // All but what differs between two builds from the same keys and seed.
  [[nodiscard]] std::string lasting_bytes(const std::string& name) const {
    return read(path(name + ".ks")).substr(kHeaderBytes);
  }
};

TEST_F(BuildResources, StaysBelowTheMemoryLimitAndBuildsTheSameSnapshot) {
  const std::string keys = write("keys.txt", numbered_lines(5'000'000));
  run(build_of(keys, {}, "plain"));
  for (const char* threads : {"1", "2", "64"}) {
    const Words limited{"--memory", "32M", "--threads", threads, "--like", path("plain.ks"), "--resize"};
    const std::uint64_t peak = peak_of(build_of(keys, limited));
    EXPECT_LE(peak, 32 << 20) << threads;
    EXPECT_TRUE(lasting_bytes("new") == lasting_bytes("plain")) << threads;
  }
  EXPECT_GT(peak_of(build_of(keys, {})), 48 << 20) << "or the limit would show nothing";
}

TEST_F(BuildResources, KeepsBothListsBelowTheMemoryLimitAndBuildsTheSameSnapshot) {
  const std::string keys = write("keys.txt", numbered_lines(500'000));
  const std::string absent = write("absent.txt", numbered_lines(4'000'000, "absent"));
  const Words known_absent{"--known-absent", absent};
  run(build_of(keys, known_absent, "plain"));
  for (const char* threads : {"1", "2"}) {
    const Words limited =
        known_absent + Words{"--memory", "32M", "--threads", threads, "--like", path("plain.ks"), "--resize"};
    EXPECT_LE(peak_of(build_of(keys, limited)), 32 << 20) << threads;
    EXPECT_TRUE(lasting_bytes("new") == lasting_bytes("plain")) << threads;
  }
  EXPECT_GT(peak_of(build_of(keys, known_absent)), 40 << 20) << "or the limit would show nothing";
  run({"verify", path("new.ks"), "--keys", keys, "--known-absent", absent});
}

TEST_F(BuildResources, RefusesALimitThatIsTooSmallAndSaysHowMuchIsNeeded) {
  const std::string reason = refusal(64, build_of(write("keys.txt", "a\n"), {"--memory", "1M"}));
  EXPECT_THAT(reason, StartsWith("memory limit of 1M is too small: needs "));
  const std::string needed = reason.substr(reason.find("needs ") + 6, 3);
  run(build_of(path("keys.txt"), {"--memory", needed}));
}

TEST_F(BuildResources, RefusesKeysThatHaveNoRoomBelowTheLimit) {
  const std::string keys = write("keys.txt", "a\n" + std::string(262'145, 'x') + "\n");
  EXPECT_THAT(refusal(65, build_of(keys, {"--memory", "32M"})),
              HasSubstr("keys.txt: line 2 is longer than 262,144 bytes"));
  run(build_of(keys, {}));
}

TEST_F(BuildResources, SaysThatMemoryIsUsedUp) {
  const std::string keys = write("keys.txt", numbered_lines(5'000'000));
  ProgramCall call = call_of(build_of(keys, {}));
  call.arguments.insert(call.arguments.begin(), {"--as=60000000", call.program});
  call.program = "prlimit";
  const ProgramResult result = run_program(call);
  EXPECT_EQ(result.exit_status, 71);
  EXPECT_EQ(result.errors, "keysieve: not enough memory\n");
  EXPECT_THAT(names_in(directory_.path()), ElementsAre("keys.txt", "shm"));
}

TEST_F(BuildResources, NamesAFullTemporaryFolderAndLeavesNothingBehind) {
  const MountedTmpfs mounted(shared_memory(), "1M");
  if (mounted.error() != 0) GTEST_SKIP() << "only root may mount a small tmpfs";
  const std::string keys = write("keys.txt", numbered_lines(3'000'000));
  const Words options{"--memory", "24M", "--temp-dir", shared_memory()};
  EXPECT_EQ(refusal(73, build_of(keys, options)),
            "temporary file in " + shared_memory() + ": No space left on device");
  EXPECT_THAT(names_in(shared_memory()), ElementsAre());
  EXPECT_THAT(names_in(directory_.path()), ElementsAre("keys.txt", "shm"));
}

TEST_F(BuildResources, PutsTemporaryFilesIntoTheFolderThatIsNamed) {
  const std::string keys = write("keys.txt", numbered_lines(3'000'000));
  const std::string none = path("none");
  const std::string refused = "temporary file in " + none + ": No such file or directory";
  EXPECT_EQ(refusal(73, build_of(keys, {"--memory", "24M", "--temp-dir", none})), refused);
  ProgramCall call = call_of(build_of(keys, {"--memory", "24M"}));
  call.environment.push_back("TMPDIR=" + none);
  EXPECT_EQ(run_program(call).errors, "keysieve: " + refused + "\n");
  run(build_of(keys, {"--temp-dir", none}));
}

}  // namespace
}  // namespace keysieve::test
