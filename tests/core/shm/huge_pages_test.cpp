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
using ::testing::HasSubstr;

constexpr std::uint64_t kHugePageBytes = 2 * 1024 * 1024;

class HugePages : public test::SharedMemory {
 protected:
  // Of a set of 5 MB that is published in the directory.
  [[nodiscard]] std::uint64_t huge_bytes_of_a_published_set() {
    publish(large_snapshot_of("key"));
    SetReader reader = this->reader();
    const Attachment* attached = reader.follow();
    return attached ? huge_page_bytes(attached->snapshot().bytes()).value() : ~std::uint64_t{0};
  }
};

// Over the directory of a test, which is skipped where that cannot be.
#define MOUNT_TMPFS_OR_SKIP(options)                                              \
  if (!is_root()) GTEST_SKIP() << "only root can mount a tmpfs";                  \
  const test::MountedTmpfs mounted(directory_.path(), options);                   \
  if (mounted.error() == EPERM) GTEST_SKIP() << "this root may not mount";        \
  if (mounted.error() == EINVAL) GTEST_SKIP() << "this kernel has no huge pages"; \
  ASSERT_EQ(mounted.error(), 0)

TEST_F(HugePages, AreWhatTheMountSays) {
  for (const std::string policy : {"never", "always", "within_size", "advise"}) {
    MOUNT_TMPFS_OR_SKIP("16m,huge=" + policy);
    EXPECT_EQ(huge_page_policy(directory_.path()), policy);
  }
}

TEST_F(HugePages, AreNotToBeHadOfAMountThatSaysNothing) {
  MOUNT_TMPFS_OR_SKIP("16m");
  EXPECT_EQ(huge_page_policy(directory_.path()), "never");
  EXPECT_EQ(huge_bytes_of_a_published_set(), 0U);
}

TEST_F(HugePages, AreNoMatterOfOtherFileSystems) {
  EXPECT_EQ(huge_page_policy("/proc"), std::nullopt);
}

TEST_F(HugePages, HoldAPublishedSetWhereTheMountGivesThem) {
  MOUNT_TMPFS_OR_SKIP("64m,huge=within_size");
  const std::uint64_t bytes = huge_bytes_of_a_published_set();
  EXPECT_GE(bytes, kHugePageBytes);
  EXPECT_EQ(bytes % kHugePageBytes, 0U);
}

TEST_F(HugePages, NameADirectoryThatIsNotThere) {
  EXPECT_THAT([&] { huge_page_policy(directory_ / "gone"); },
              test::fails(ErrorKind::MissingInput, HasSubstr(directory_ / "gone")));
}

}  // namespace
}  // namespace keysieve
