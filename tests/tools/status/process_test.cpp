#include "tools/status/process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"

namespace keysieve::test {
namespace {

// A program that waits to be killed, under a name of the caller's choice.
pid_t start_as(const std::string& name) {
  std::array<int, 2> started{};
  if (::pipe2(started.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  const pid_t pid = start_process([&] { return ::execl("/bin/sleep", name.c_str(), "1000", nullptr); });
  ::close(started[1]);
  char byte = 0;
  static_cast<void>(::read(started[0], &byte, 1));  // ends when the process has executed the program
  ::close(started[0]);
  return pid;
}

std::string program_of(const std::string& name) {
  const pid_t pid = start_as(name);
  const auto facts = facts_of(pid);
  ::kill(pid, SIGKILL);
  wait_for(pid);
  return facts ? facts->program : "";
}

TEST(Process, IsNamedByItsCommandLine) {
  EXPECT_EQ(program_of("php-fpm: pool café 猫"), "php-fpm: pool café 猫 1000");
}

TEST(Process, HasNoControlCharactersInItsName) {
  EXPECT_EQ(program_of("a\033[2Jb\nc\x7F\xC2\x9Bz"), "a\uFFFD[2Jb\uFFFDc\uFFFD\uFFFDz 1000");
}

TEST(Process, AlwaysHasUtf8InItsName) {
  EXPECT_EQ(program_of("a\xC3(\xFF\xED\xA0\x80"), "a\uFFFD(\uFFFD\uFFFD\uFFFD\uFFFD 1000");
  EXPECT_EQ(program_of("\xE7\x8C"), "\uFFFD\uFFFD 1000");
}

TEST(Process, HasAUserAndAStart) {
  const auto facts = facts_of(::getpid());
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->uid, ::getuid());
  EXPECT_GT(facts->started_at, unix_now() - 24 * 3600);
  EXPECT_LE(facts->started_at, unix_now() + 1);
  EXPECT_THAT(process_ids(), Contains(::getpid()));
}

// Between two lookups of it.
TEST(Process, HasNoFactsOnceItHasEnded) {
  const pid_t pid = start_process([] { return 0; });
  siginfo_t end{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &end, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(facts_of(pid));
  EXPECT_TRUE(files_mapped_by(pid));
  EXPECT_EQ(wait_for(pid), 0);
  EXPECT_FALSE(facts_of(pid));
  ASSERT_TRUE(files_mapped_by(pid));
  EXPECT_TRUE(files_mapped_by(pid)->empty());
}

TEST(Process, HasItsOwnProgramMapped) {
  const auto files = files_mapped_by(::getpid());
  ASSERT_TRUE(files);
  ASSERT_FALSE(files->empty());
  for (const MappedFile& file : *files) EXPECT_THAT(file.path, StartsWith("/"));
}

}  // namespace
}  // namespace keysieve::test
