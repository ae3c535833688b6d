// Loaders that may not or cannot work on a seen set: locks, other users, a process without resources.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/shm.h>

#include "core/publisher/seen/new_segment.hpp"
#include "tests/core/seen/seen_sets.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using test::append;
using test::at;
using test::exit_status_of;
using test::is_new;
using test::is_root;
using test::kOtherUser;
using test::kWorkerGroup;
using test::numbered_hash;
using test::run_as;
using test::run_in_process;
using ::testing::HasSubstr;

using SeenWriterAccess = test::SeenSets;

// The page is locked too: who removes `lock` does not let a second loader in.
TEST_F(SeenWriterAccess, WorksAloneOnASetWhoseLockWasRemoved) {
  {
    const SeenWriter writer = started_writer();
    std::filesystem::remove(folder() + "/" + kLockName);
    SeenWriter second = this->writer();
    EXPECT_THAT([&] { static_cast<void>(second.adopt()); },
                test::fails(ErrorKind::Locked, HasSubstr(page_path())));
    EXPECT_EQ(writer.filters().size(), 1U);
    EXPECT_TRUE(writer.is_in_place());
  }
  EXPECT_TRUE(writer().adopt()) << "that loader has ended";
}

TEST_F(SeenWriterAccess, IsNotKeptOutByAWorkerThatLocksThePage) {
  static_cast<void>(started_writer());
  const FileDescriptor page(::open(page_path().c_str(), O_RDONLY | O_CLOEXEC));
  struct flock lock {};
  lock.l_type = F_RDLCK;
  ASSERT_EQ(::fcntl(page.get(), F_OFD_SETLK, &lock), 0);
  EXPECT_TRUE(writer().adopt());
}

// A set that a loader cannot open for now must not be replaced: its keys would be new again.
class SeenWriterWithoutResources : public test::SeenSets {
 protected:
  // Lets a process whose resources `limit` takes away look for a set of 32 MiB. Returns how that ended.
  int adopt_after(int (*limit)()) {
    {
      SeenPlan large = plan();
      large.size.words = 8'192 * kWordsPerSeenShard;
      SeenWriter writer = started_writer();
      append(writer, {large});
    }
    SeenReader reader = this->reader();
    EXPECT_TRUE(is_new(reader, numbered_hash(1)));
    const int status = run_in_process([&] {
      SeenWriter writer = this->writer();
      if (limit() != 0) return test::kUnexpected;
      return writer.adopt() ? 1 : 2;
    });
    SeenWriter writer = this->writer();
    EXPECT_TRUE(writer.adopt());
    EXPECT_FALSE(is_new(reader, numbered_hash(1)));
    return status;
  }
};

TEST_F(SeenWriterWithoutResources, LeavesASetAsItWasWithoutDescriptors) {
  const auto limit = [] {
    const rlimit open_files{static_cast<rlim_t>(::dup(0)), 4'096};  // and that one stays open
    return ::setrlimit(RLIMIT_NOFILE, &open_files);
  };
  EXPECT_EQ(adopt_after(limit), exit_status_of(ErrorKind::MissingInput));
}

TEST_F(SeenWriterWithoutResources, LeavesASetAsItWasWithoutAddressSpace) {
  const auto limit = [] {
    std::ifstream pages("/proc/self/statm");
    rlim_t mapped = 0;
    pages >> mapped;
    const rlimit bytes{mapped * kPageBytes + (16 << 20), RLIM_INFINITY};
    return ::setrlimit(RLIMIT_AS, &bytes);
  };
  EXPECT_EQ(adopt_after(limit), exit_status_of(ErrorKind::CannotCreate));
}

TEST_F(SeenWriterAccess, RefusesAFolderOfAnotherUser) {
  if (!is_root()) GTEST_SKIP() << "only root can give files to another user";
  static_cast<void>(started_writer());
  for (const std::string& path : {folder(), folder() + "/" + kLockName, page_path()})
    ASSERT_EQ(::chown(path.c_str(), kOtherUser, kWorkerGroup), 0);
  EXPECT_THAT([&] { static_cast<void>(writer()); },
              test::fails(ErrorKind::NotTrusted, HasSubstr("belongs to uid 54321, this loader runs as 0")));
}

TEST_F(SeenWriterAccess, NeedsAWritableDirectory) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  EXPECT_EQ(run_as(kOtherUser, kWorkerGroup,
                   [&] {
                     static_cast<void>(writer());
                     return 0;
                   }),
            exit_status_of(ErrorKind::Permission));
}

TEST_F(SeenWriterAccess, WorksForAUserThatIsNotRoot) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  ASSERT_EQ(::chown(directory_.path().c_str(), kOtherUser, kWorkerGroup), 0);
  const auto retire_all = [&] {
    SeenWriter writer = this->writer(kWorkerGroup);
    writer.create(kSeed, OnUnavailable::New);
    append(writer, {plan(0), plan(1)});
    writer.retire(at(1));
    SeenReader reader = this->reader();
    const bool works = is_new(reader, numbered_hash(1)) && !is_new(reader, numbered_hash(1));
    remove_segment(writer.filters()[0].segment.key());
    return works ? 0 : 1;
  };
  EXPECT_EQ(run_as(kOtherUser, kWorkerGroup, retire_all), 0);
}

TEST_F(SeenWriterAccess, LeavesASetAsItWasWhoseMemoryItMayNotLookAt) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user, for whom modes count";
  ASSERT_EQ(::chown(directory_.path().c_str(), kOtherUser, kWorkerGroup), 0);
  const auto set_mode = [](std::uint32_t key, unsigned short mode) {
    const int id = ::shmget(static_cast<key_t>(key), 0, 0);
    shmid_ds status{};
    status.shm_perm.uid = kOtherUser;
    status.shm_perm.gid = kWorkerGroup;
    status.shm_perm.mode = mode;
    return ::shmctl(id, IPC_SET, &status) == 0;
  };
  const auto adopt = [&] {
    const std::uint32_t key = started_writer(kWorkerGroup).filters()[0].segment.key();
    bool is_refused = false;
    if (!set_mode(key, 0)) return test::kUnexpected;
    try {
      static_cast<void>(writer(kWorkerGroup).adopt());
    } catch (const Error& error) {
      is_refused = error.kind() == ErrorKind::Permission;
    }
    if (!set_mode(key, 0660)) return test::kUnexpected;
    const bool is_there = writer(kWorkerGroup).adopt();
    remove_segment(key);
    return is_refused && is_there ? 0 : 1;
  };
  EXPECT_EQ(run_as(kOtherUser, kWorkerGroup, adopt), 0);
}

}  // namespace
}  // namespace keysieve
