#include "core/publisher/shm/memory_use.hpp"

#include <gmock/gmock.h>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/error.hpp"
#include "tests/core/shm/shared_memory.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using test::is_root;
using test::run_as;

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

TEST_F(MemoryUseTest, DoesNotGuessPinnedBytesOnASharedFileSystem) {
  EXPECT_EQ(memory_use(directory_.path()).pinned_bytes, std::nullopt);
}

TEST_F(MemoryUseTest, KnowsAnUpperLimitOnATmpfs) {
  MOUNT_TMPFS_OR_SKIP("16m");
  publish("key");
  const std::uint64_t most = tmpfs_used_bytes(directory_.path()).value();
  EXPECT_GE(most, memory_use(directory_.path()).visible_bytes);
  EXPECT_LE(most, 2 * memory_use(directory_.path()).visible_bytes);
}

TEST_F(MemoryUseTest, KnowsNoUpperLimitOnATmpfsWithoutASize) {
  MOUNT_TMPFS_OR_SKIP("0");
  publish("key");
  EXPECT_EQ(tmpfs_used_bytes(directory_.path()), std::nullopt);
  Publisher limited({.directory = directory_.path(), .max_total_bytes = 1}, "shop");
  EXPECT_EQ(test::failure_of([&] { limited.publish(snapshot_of("key", {.set_name = "shop"}).get(), 1); }),
            ErrorKind::CannotCreate);
}

// Another user's set must not keep this one from being published.
TEST_F(MemoryUseTest, SkipsFoldersItMayNotEnter) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  publish("key");
  std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  EXPECT_EQ(
      run_as(54'321, 54'322, [&] { return static_cast<int>(memory_use(directory_.path()).visible_bytes); }),
      0);
}

// Idle workers keep the publications that they used last.
TEST_F(MemoryUseTest, CountsAndLimitsWhatIdleWorkersPin) {
  MOUNT_TMPFS_OR_SKIP("64m");
  constexpr std::uint64_t kOther = 16 * kPageBytes;  // lock, control, folders
  constexpr std::uint64_t kWorkers = 8;
  const SnapshotBytes large = large_snapshot_of("key");
  std::vector<SetReader> workers;
  for (std::uint64_t i = 1; i <= kWorkers; ++i) {
    publish(large, i);
    workers.push_back(reader());
    EXPECT_EQ(test::publication_seen_by(workers.back()), i);
    workers.back().check_soon();  // as at the end of a request
  }
  const auto pinned = [&] { return memory_use(directory_.path()).pinned_bytes.value_or(0); };
  const std::uint64_t one = large.get().size() + sizeof(LivePage);
  const std::uint64_t before = pinned();
  EXPECT_GE(before, (kWorkers - 2) * one);
  EXPECT_LE(before, (kWorkers - 2) * one + kOther);

  // The refused publish has removed the name of the publication before the current one, which pins it as
  // well.
  Publisher limited({.directory = directory_.path(), .max_total_bytes = kWorkers * one + kOther}, kSet);
  EXPECT_THAT(test::message_of<ErrorKind::CannotCreate>([&] { limited.publish(large.get(), 1); }),
              ::testing::HasSubstr("restart idle PHP workers"));
  EXPECT_EQ(pinned(), before + one);
  for (SetReader& worker : workers) {
    EXPECT_EQ(test::publication_seen_by(worker), kWorkers);
    worker.check_soon();
  }
  EXPECT_LE(pinned(), kOther);
  EXPECT_EQ(limited.publish(large.get(), 1), kWorkers + 1);
}

constexpr std::uint64_t kHugePageBytes = 2 * 1024 * 1024;

class HugePages : public test::SharedMemory {
 protected:
  // For a set of 5 MB that is published in the directory.
  [[nodiscard]] std::uint64_t huge_bytes_of_a_published_set() {
    publish(large_snapshot_of("key"));
    SetReader reader = this->reader();
    const Attachment* attached = reader.follow();
    return attached ? huge_page_bytes(attached->snapshot().bytes()).value() : ~std::uint64_t{0};
  }
};

TEST_F(HugePages, FollowTheMountOption) {
  for (const std::string policy : {"never", "always", "within_size", "advise"}) {
    MOUNT_TMPFS_OR_SKIP("16m,huge=" + policy);
    EXPECT_EQ(huge_page_policy(directory_.path()), policy);
  }
}

TEST_F(HugePages, AreOffWithoutAMountOption) {
  MOUNT_TMPFS_OR_SKIP("16m");
  EXPECT_EQ(huge_page_policy(directory_.path()), "never");
  EXPECT_EQ(huge_bytes_of_a_published_set(), 0U);
}

TEST_F(HugePages, AreUnknownOnOtherFileSystems) {
  EXPECT_EQ(huge_page_policy("/proc"), std::nullopt);
}

TEST_F(HugePages, HoldAPublishedSetWhenTheMountAllowsThem) {
  MOUNT_TMPFS_OR_SKIP("64m,huge=within_size");
  const std::uint64_t bytes = huge_bytes_of_a_published_set();
  EXPECT_GE(bytes, kHugePageBytes);
  EXPECT_EQ(bytes % kHugePageBytes, 0U);
}

}  // namespace
}  // namespace keysieve
