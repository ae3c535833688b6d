// What a reader trusts: files of a trusted owner that no other user can write, reached without a symbolic
// link. Everything else answers maybe, at once and with a reason.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "core/worker/base/error.hpp"
#include "tests/core/shm/shared_memory.hpp"

namespace keysieve {
namespace {

using test::is_root;
using test::kOtherUser;
using test::kWorkerGroup;
using test::publication_seen_by;
using test::run_as;
using ::testing::HasSubstr;

constexpr uid_t kWorker = 54'323;

class TrustTest : public test::SharedMemory {
 protected:
  void SetUp() override { publish("key"); }

  // A new reader answers maybe, for this reason.
  void expect_refused(const std::string& path, const std::string& reason,
                      std::optional<uid_t> trusted_owner = std::nullopt) const {
    SetReader reader({.directory = directory_.path(), .trusted_owner = trusted_owner}, kSet);
    expect_missing(reader, AllOf(HasSubstr(path), HasSubstr(reason)));
  }
  // Gives all of the set's files and its folder to a user, as if that user had published.
  void give_all_to(uid_t user) const {
    for (const std::string& name : file_names()) give_to(file(name), user);
    give_to(folder(), user);
  }
  static void give_to(const std::string& path, uid_t user) {
    ASSERT_EQ(::chown(path.c_str(), user, kWorkerGroup), 0) << path;
  }
  static void set_mode(const std::string& path, mode_t mode) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0) << path;
  }
  void replace_by_link(const std::string& path) const {
    std::filesystem::rename(path, path + "-real");
    std::filesystem::create_symlink(path + "-real", path);
  }
  void replace_by_pipe(const std::string& path) const {
    std::filesystem::remove_all(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0640), 0);
  }

  const std::string snapshot_ = file(snapshot_file_name(1));
  const std::string live_ = file(live_file_name(1));
  const std::string control_ = file(kControlName);
};

TEST_F(TrustTest, RefusesAFolderThatItsGroupOrOthersMayWrite) {
  for (const mode_t mode : {0770U, 0757U, 0777U}) {
    set_mode(folder(), mode);
    expect_refused(folder(), "not trusted");
  }
}

TEST_F(TrustTest, RefusesFilesThatTheirGroupOrOthersMayWrite) {
  for (const std::string& path : {control_, snapshot_, live_}) {
    struct stat before {};
    ASSERT_EQ(::stat(path.c_str(), &before), 0);
    for (const mode_t mode : {0660U, 0642U}) {
      set_mode(path, mode);
      expect_refused(path, "not trusted");
    }
    set_mode(path, before.st_mode & 07777);
  }
  EXPECT_TRUE(reader().follow());
}

TEST_F(TrustTest, RefusesAFolderBehindASymbolicLinkAndWhatIsNoneWithoutWaiting) {
  replace_by_link(folder());
  expect_refused(folder(), "Not a directory");
  replace_by_pipe(folder());
  expect_refused(folder(), "Not a directory");
  std::filesystem::remove(folder());
  std::ofstream(folder()) << "text";
  expect_refused(folder(), "Not a directory");
}

// From the last one that a reader opens to the first.
TEST_F(TrustTest, RefusesFilesBehindASymbolicLink) {
  for (const std::string& path : {live_, snapshot_, control_}) {
    replace_by_link(path);
    expect_refused(path, "Too many levels of symbolic links");
  }
}

TEST_F(TrustTest, RefusesPipesWithoutWaitingAndADirectory) {
  replace_by_pipe(snapshot_);
  expect_refused(snapshot_, "not a regular file");
  replace_by_pipe(control_);
  expect_refused(control_, "not a regular file");
  std::filesystem::remove(control_);
  std::filesystem::create_directory(control_);
  expect_refused(control_, "not a regular file");
}

TEST_F(TrustTest, RefusesAFolderOfAForeignOwner) {
  if (!is_root()) GTEST_SKIP() << "only root can give files to another user";
  give_all_to(kOtherUser);
  expect_refused(folder(), "belongs to uid 54321");
  expect_refused(folder(), "belongs to uid 54321", kWorker);
}

TEST_F(TrustTest, RefusesFilesOfAnotherOwnerThanTheFolders) {
  if (!is_root()) GTEST_SKIP() << "only root can give files to another user";
  for (const std::string& path : {control_, snapshot_, live_}) {
    give_to(path, kOtherUser);
    expect_refused(path, "it belongs to uid 54321, the folder to uid 0");
    expect_refused(path, "it belongs to uid 54321, the folder to uid 0", kOtherUser);
    give_to(path, 0);
  }
}

TEST_F(TrustTest, RefusesRootsFilesInAnotherUsersFolder) {
  if (!is_root()) GTEST_SKIP() << "only root can give files to another user";
  give_to(folder(), kOtherUser);
  expect_refused(control_, "it belongs to uid 0, the folder to uid 54321", kOtherUser);
}

TEST_F(TrustTest, TrustsRootForAnyUser) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  set_mode(directory_.path(), 0755);
  give_all_to(0);
  EXPECT_EQ(run_as(kWorker, kWorkerGroup,
                   [this] {
                     SetReader reader = this->reader();
                     return static_cast<int>(publication_seen_by(reader));
                   }),
            1);
}

TEST_F(TrustTest, LetsWorkersOfTheGroupRead) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  set_mode(directory_.path(), 0755);
  give_all_to(kOtherUser);
  set_mode(folder(), 02750);  // chown clears the set-group-id bit
  const auto publication_seen = [&] {
    SetReader reader({.directory = directory_.path(), .trusted_owner = kOtherUser}, kSet);
    return static_cast<int>(publication_seen_by(reader));
  };
  EXPECT_EQ(run_as(kWorker, kWorkerGroup, publication_seen), 1);
  EXPECT_EQ(run_as(kWorker, kWorkerGroup + 1, publication_seen), 0);
}

}  // namespace
}  // namespace keysieve
