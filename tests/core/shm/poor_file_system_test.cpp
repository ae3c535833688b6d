// Publishing on file systems that lack something: RENAME_NOREPLACE, locks of an open file, flock(2).
#include <gmock/gmock.h>
#include <linux/fs.h>
#include <sys/file.h>

#include "core/publisher/shm/bypass.hpp"
#include "tests/core/shm/shared_memory.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/refused_calls.hpp"

namespace keysieve {
namespace {

using test::publication_seen_by;
using test::refuse_calls;
using test::RefusedCall;
using test::run_in_process;

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
