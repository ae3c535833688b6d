#include "core/shm/memory_use.hpp"

#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "tests/core/shm/shared_memory.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/mounted_tmpfs.hpp"

namespace keysieve {
namespace {

using test::is_root;
using test::run_as;
using ::testing::HasSubstr;

class MemoryUseTest : public test::SharedMemory {};

TEST_F(MemoryUseTest, CountsTheFilesOfAllSets) {
  EXPECT_EQ(memory_use(directory_.path()).visible_bytes, 0U);
  publish("key");
  const std::uint64_t one_set = memory_use(directory_.path()).visible_bytes;
  EXPECT_GE(one_set, snapshot_of("key").get().size() + 2 * kPageBytes);
  Publisher({.directory = directory_.path()}, "shop")
      .publish(snapshot_of("key", {.set_name = "shop"}).get(), 1);
  EXPECT_EQ(memory_use(directory_.path()).visible_bytes, 2 * one_set);
}

TEST_F(MemoryUseTest, NamesADirectoryThatIsNotThere) {
  EXPECT_THAT([&] { memory_use(directory_ / "gone"); },
              test::fails(ErrorKind::MissingInput, HasSubstr(directory_ / "gone")));
}

TEST_F(MemoryUseTest, DoesNotGuessWhatIsPinnedOnASharedFileSystem) {
  EXPECT_EQ(memory_use(directory_.path()).pinned_bytes, std::nullopt);
}

TEST_F(MemoryUseTest, MeasuresWhatReadersPinOnATmpfsOfItsOwn) {
  if (!is_root()) GTEST_SKIP() << "only root can mount a tmpfs";
  const test::MountedTmpfs mounted(directory_.path(), "16m");
  if (mounted.error() == EPERM) GTEST_SKIP() << "this root may not mount";
  ASSERT_EQ(mounted.error(), 0);
  const SnapshotBytes large = test::build_snapshot({.set_name = kSet}, test::numbered_keys("old", 100'000));
  publish(large);
  EXPECT_EQ(memory_use(directory_.path()).pinned_bytes, 0U);
  {
    SetReader idle = reader();
    EXPECT_TRUE(idle.follow());
    for (int i = 0; i < 3; ++i) publish("new");
    EXPECT_GE(memory_use(directory_.path()).pinned_bytes, large.get().size());
    const PublisherSettings limited{.directory = directory_.path(), .max_total_bytes = 150'000};
    EXPECT_THAT([&] { Publisher(limited, kSet).publish(snapshot_of("new").get(), 1); },
                test::fails(ErrorKind::CannotCreate, HasSubstr("pinned")));
  }
  EXPECT_EQ(memory_use(directory_.path()).pinned_bytes, 0U);
}

// Another user's set must not keep this one from being published.
TEST_F(MemoryUseTest, PassesOverFoldersItMayNotEnter) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  publish("key");
  std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  EXPECT_EQ(
      run_as(54'321, 54'322, [&] { return static_cast<int>(memory_use(directory_.path()).visible_bytes); }),
      0);
}

}  // namespace
}  // namespace keysieve
