// A publisher checks who may publish, gives the files the right owner, and does not follow links.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "core/publisher/shm/bypass.hpp"
#include "core/worker/base/error.hpp"
#include "tests/core/shm/shared_memory.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using test::exit_status_of;
using test::is_root;
using test::kOtherUser;
using test::kWorkerGroup;
using test::run_as;
using ::testing::HasSubstr;

class PublisherRightsTest : public test::SharedMemory {
 protected:
  [[nodiscard]] static mode_t mode_of(const std::string& path) { return stat_of_path(path).st_mode & 07777; }
  [[nodiscard]] static gid_t group_of(const std::string& path) { return stat_of_path(path).st_gid; }

 private:
  [[nodiscard]] static struct stat stat_of_path(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status;
  }
};

TEST_F(PublisherRightsTest, CreatesNoFolderInWhichTheDirectorysOwnerCouldNotPublish) {
  if (!is_root()) GTEST_SKIP() << "only root can give a directory to another user";
  ASSERT_EQ(::chown(directory_.path().c_str(), 12345, static_cast<gid_t>(-1)), 0);
  EXPECT_THAT(test::message_of<ErrorKind::NotTrusted>([this] { publisher(); }),
              HasSubstr("belongs to uid 12345"));
  EXPECT_FALSE(std::filesystem::exists(folder()));
}

TEST_F(PublisherRightsTest, SetsTheSameModesWithAnyUmask) {
  for (const mode_t mask : {0U, 022U, 077U}) {
    const mode_t before = ::umask(mask);
    publish("key");
    ::umask(before);
    EXPECT_EQ(mode_of(folder()), 02750U) << mask;
    EXPECT_EQ(mode_of(file("lock")), 0600U) << mask;
    EXPECT_EQ(mode_of(file("control")), 0640U) << mask;
    EXPECT_EQ(mode_of(file(snapshot_file_name(1))), 0440U) << mask;
    EXPECT_EQ(mode_of(file(live_file_name(1))), 0640U) << mask;
    std::filesystem::remove_all(folder());
  }
}

TEST_F(PublisherRightsTest, GivesFolderAndFilesToTheGroupThoseThatExistToo) {
  if (!is_root()) GTEST_SKIP() << "only root can give files to any group";
  for (const gid_t group : {kWorkerGroup, kWorkerGroup + 1}) {
    Publisher publisher({.directory = directory_.path(), .group = group}, kSet);
    if (group == kWorkerGroup) publisher.publish(snapshot_of("key").get(), 1);
    EXPECT_EQ(group_of(folder()), group);
    EXPECT_EQ(mode_of(folder()), 02750U);
    for (const std::string& name : file_names()) EXPECT_EQ(group_of(file(name)), group) << name;
  }
}

TEST_F(PublisherRightsTest, GivesThemToAGroupOfItsUserWithoutBeingRoot) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  publish("key");
  std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  for (const std::string& name : file_names()) ASSERT_EQ(::chown(file(name).c_str(), kOtherUser, 0), 0);
  ASSERT_EQ(::chown(folder().c_str(), kOtherUser, 0), 0);
  EXPECT_EQ(run_as(kOtherUser, kWorkerGroup,
                   [this] {
                     Publisher({.directory = directory_.path(), .group = kWorkerGroup}, kSet);
                     return 0;
                   }),
            0);
  EXPECT_EQ(group_of(folder()), kWorkerGroup);
  for (const std::string& name : file_names()) EXPECT_EQ(group_of(file(name)), kWorkerGroup) << name;
}

// Root's folder is trusted for reading, but only root may publish into it.
TEST_F(PublisherRightsTest, MustRunAsTheOwnerOfTheFolder) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  Publisher({.directory = directory_.path(), .group = kWorkerGroup}, kSet)
      .publish(snapshot_of("old").get(), 1);
  std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  EXPECT_EQ(run_as(kOtherUser, kWorkerGroup,
                   [&] {
                     publisher();
                     return 0;
                   }),
            exit_status_of(ErrorKind::NotTrusted));
  EXPECT_EQ(run_as(kOtherUser, kWorkerGroup,
                   [&] {
                     set_bypass(directory_.path(), kSet, 0);
                     return 0;
                   }),
            exit_status_of(ErrorKind::Permission));
  EXPECT_TRUE(reader().follow());
}

}  // namespace
}  // namespace keysieve
