#include "tools/status/reader_processes.hpp"

#include "tests/core/shm/shared_memory.hpp"
#include "tests/support/idle_reader.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/mounted_tmpfs.hpp"

namespace keysieve::test {
namespace {

class ReaderProcessesTest : public SharedMemory {};

TEST_F(ReaderProcessesTest, AreNoneWithoutReaders) {
  publish("key");
  EXPECT_THAT(reader_processes(directory_.path()).readers, IsEmpty());
}

TEST_F(ReaderProcessesTest, AreFoundWithTheirMappings) {
  publish("key");
  const IdleReader idle(reader());
  const auto found = reader_processes(directory_.path()).readers;
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].pid, idle.pid());
  EXPECT_EQ(found[0].uid, ::getuid());
  EXPECT_EQ(found[0].set_name, kSet);
  EXPECT_EQ(found[0].publication, 1U);
  EXPECT_EQ(found[0].bytes, round_up_to_page(std::filesystem::file_size(file(snapshot_file_name(1)))));
  EXPECT_FALSE(found[0].is_removed);
  EXPECT_THAT(found[0].program, HasSubstr("status_test"));
  EXPECT_NEAR(static_cast<double>(found[0].started_at), static_cast<double>(unix_now()), 60.0);
}

TEST_F(ReaderProcessesTest, KeepRemovedPublicationsWhileTheyAreIdle) {
  publish("first");
  const IdleReader first(reader());
  publish("second");
  publish("third");
  const IdleReader third(reader());
  const auto found = reader_processes(directory_.path()).readers;
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].pid, first.pid());
  EXPECT_EQ(found[0].publication, 1U);
  EXPECT_TRUE(found[0].is_removed);
  EXPECT_EQ(found[1].pid, third.pid());
  EXPECT_EQ(found[1].publication, 3U);
  EXPECT_FALSE(found[1].is_removed);
}

TEST_F(ReaderProcessesTest, OfOtherDirectoriesAreNotCounted) {
  publish("key");
  const IdleReader idle(reader());
  const TemporaryDirectory other;
  EXPECT_THAT(reader_processes(other.path()).readers, IsEmpty());
}

// As in a pool with a chroot, into which the directory is mounted.
TEST_F(ReaderProcessesTest, AreFoundBehindABindMountAndKeepRemovedPublications) {
  const TemporaryDirectory there;
  if (::mount(directory_.path().c_str(), there.path().c_str(), nullptr, MS_BIND, nullptr) != 0) {
    GTEST_SKIP() << "only root can mount";
  }
  publish("first");
  {
    const IdleReader first(SetReader({.directory = there.path(), .max_jitter = {}}, kSet));
    publish("second");
    publish("third");
    const IdleReader third(SetReader({.directory = there.path(), .max_jitter = {}}, kSet));
    const auto found = reader_processes(directory_.path()).readers;
    EXPECT_THAT(found, SizeIs(2));
    if (found.size() == 2) {
      EXPECT_EQ(found[0].pid, first.pid());
      EXPECT_EQ(found[0].set_name, kSet);
      EXPECT_TRUE(found[0].is_removed);
      EXPECT_EQ(found[1].pid, third.pid());
      EXPECT_FALSE(found[1].is_removed);
    }
  }
  ::umount2(there.path().c_str(), MNT_DETACH);
}

TEST_F(ReaderProcessesTest, OfAnotherFileSystemUnderTheSamePathAreNotCounted) {
  publish("first");
  const IdleReader hidden(reader());
  const MountedTmpfs mounted(directory_.path(), "16m");
  if (!mounted.is_there()) GTEST_SKIP() << "this user may not mount";
  publish("second");
  EXPECT_THAT(reader_processes(directory_.path()).readers, IsEmpty());
}

TEST_F(ReaderProcessesTest, AreFoundAfterTheirSetWasRemoved) {
  publish("first");
  const IdleReader idle(reader());
  std::filesystem::remove_all(folder());
  EXPECT_THAT(reader_processes(directory_.path()).readers, SizeIs(1));
  publish("second");
  EXPECT_THAT(reader_processes(directory_.path()).readers, SizeIs(1));
}

// As in a container into which the directory is mounted.
TEST_F(ReaderProcessesTest, AreFoundUnderAnotherPathOfTheSameMount) {
  const TemporaryDirectory there;
  const MountedTmpfs mounted(directory_.path(), "16m");
  if (!mounted.is_there()) GTEST_SKIP() << "this user may not mount";
  publish("key");
  ASSERT_EQ(::mount(directory_.path().c_str(), there.path().c_str(), nullptr, MS_BIND, nullptr), 0);
  {
    const IdleReader idle(SetReader({.directory = there.path(), .max_jitter = {}}, kSet));
    EXPECT_EQ(::umount2(there.path().c_str(), MNT_DETACH), 0);
    EXPECT_THAT(reader_processes(directory_.path()).readers, SizeIs(1));
  }
}

TEST_F(ReaderProcessesTest, OfOtherUsersAreCountedAsUnreadable) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  publish("key");
  std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  const IdleReader idle(reader());
  EXPECT_EQ(run_as(54'321, 54'322,
                   [&] {
                     const ReaderProcesses found = reader_processes(directory_.path());
                     return found.readers.empty() && found.unreadable > 0 ? 0 : 1;
                   }),
            0);
}

TEST_F(ReaderProcessesTest, NeedADirectory) {
  EXPECT_THAT(message_of<ErrorKind::MissingInput>([&] { reader_processes(directory_ / "gone"); }),
              HasSubstr(directory_ / "gone"));
}

}  // namespace
}  // namespace keysieve::test
