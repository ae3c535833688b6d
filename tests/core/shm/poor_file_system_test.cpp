// Publishing on file systems that lack something: RENAME_NOREPLACE, locks of an open file, flock(2).
#include <gmock/gmock.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>

#include "core/publisher/shm/bypass.hpp"
#include "tests/core/shm/shared_memory.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using test::publication_seen_by;
using test::run_in_process;

struct RefusedCall {
  long call;
  unsigned argument;    // from 0; its low 32 bits are compared
  std::uint32_t value;  // with which the call is refused
  std::uint32_t error_number;
};

// From now on, in a forked process: there is no way back. False if the kernel cannot.
bool refuse_calls(const std::vector<RefusedCall>& refused) {
  constexpr auto kLoad = static_cast<std::uint16_t>(BPF_LD | BPF_W | BPF_ABS);
  constexpr auto kIfEqual = static_cast<std::uint16_t>(BPF_JMP | BPF_JEQ | BPF_K);
  constexpr auto kReturn = static_cast<std::uint16_t>(BPF_RET | BPF_K);
  std::vector<sock_filter> program;
  for (const RefusedCall& one : refused) {
    const auto argument = static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * one.argument);
    program.insert(program.end(), {sock_filter{kLoad, 0, 0, offsetof(seccomp_data, nr)},
                                   sock_filter{kIfEqual, 0, 3, static_cast<std::uint32_t>(one.call)},
                                   sock_filter{kLoad, 0, 0, argument}, sock_filter{kIfEqual, 0, 1, one.value},
                                   sock_filter{kReturn, 0, 0, SECCOMP_RET_ERRNO | one.error_number}});
  }
  program.push_back({kReturn, 0, 0, SECCOMP_RET_ALLOW});
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

constexpr RefusedCall kNoReplace{SYS_renameat2, 4, RENAME_NOREPLACE, EINVAL};
constexpr RefusedCall kLockOfOpenFile{SYS_fcntl, 1, F_OFD_SETLK, EINVAL};
constexpr RefusedCall kFlock{SYS_flock, 1, LOCK_EX | LOCK_NB, EOPNOTSUPP};

class PoorFileSystem : public test::SharedMemory {
 protected:
  // 0: `holds` does where these calls are refused.
  template <typename Holds>
  static int run_without(const std::vector<RefusedCall>& refused, Holds holds) {
    return run_in_process([&] {
      if (!refuse_calls(refused)) return test::kUnexpected;
      return holds() ? 0 : 1;
    });
  }
};

TEST_F(PoorFileSystem, IsPublishedOn) {
  EXPECT_EQ(run_without({kNoReplace, kLockOfOpenFile},
                        [this] { return publish("old") == 1 && publish("new") == 2; }),
            0);
  SetReader reader = this->reader();
  EXPECT_EQ(publication_seen_by(reader), 2U);
}

TEST_F(PoorFileSystem, KeepsAFileThatHasTheNameAlready) {
  publish("old");
  EXPECT_EQ(run_without({kNoReplace},
                        [this] {
                          const auto folder = open_or_create_folder(directory_.path(), kSet, std::nullopt);
                          static_cast<void>(create_file(folder, "new", 0600));
                          return test::failure_of([&] { rename_file(folder, "new", kControlName); }) ==
                                     ErrorKind::CannotCreate &&
                                 folder.status_of("new");
                        }),
            0);
  SetReader reader = this->reader();
  EXPECT_EQ(publication_seen_by(reader), 1U);
}

TEST_F(PoorFileSystem, HasOnePublisherAtATime) {
  const Publisher first = publisher();
  EXPECT_EQ(run_without({kNoReplace, kLockOfOpenFile},
                        [this] { return test::failure_of([&] { publisher(); }) == ErrorKind::Locked; }),
            0);
}

TEST_F(PoorFileSystem, SaysThatItMustHaveLocks) {
  EXPECT_EQ(run_without({kFlock},
                        [this] {
                          return test::message_of<ErrorKind::CannotCreate>([&] {
                                   publisher();
                                 }).find("must be on a file system with locks") != std::string::npos;
                        }),
            0);
}

}  // namespace
}  // namespace keysieve
