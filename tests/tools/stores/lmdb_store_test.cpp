#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/mounted_tmpfs.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

class LmdbStore : public ::testing::Test {
 protected:
  std::unique_ptr<Store> open(const std::string& query = "") { return open_store("lmdb:" + folder_ + query); }
  static void put(Store& store, const Record& record) { store.put_many(std::span(&record, 1)); }

  test::TemporaryDirectory directory_;
  std::string folder_ = directory_ / "store";
};

TEST_F(LmdbStore, IsUnavailableWithoutAParentFolder) {
  folder_ = directory_ / "missing/store";
  EXPECT_EQ(test::message_of<UnavailableError>([&] { open(); }),
            "lmdb:" + folder_ + ": cannot create the folder: No such file or directory");
}

TEST_F(LmdbStore, IsNotCreatedByWhoOnlyReads) {
  const auto read = [&] { open_store("lmdb:" + folder_, IfMissing::Refuse); };
  const std::string missing = "lmdb:" + folder_ + ": cannot open: No such file or directory";
  EXPECT_EQ(test::message_of<UnavailableError>(read), missing);
  EXPECT_FALSE(std::filesystem::exists(folder_));
  std::filesystem::create_directory(folder_);  // as a mount point whose file system is not there
  EXPECT_EQ(test::message_of<UnavailableError>(read), missing);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  put(*open(), {"a", "1"});
  EXPECT_THAT(open_store("lmdb:" + folder_, IfMissing::Refuse)->get("a"), Optional(std::string("1")));
}

TEST_F(LmdbStore, RefusesAFileThatIsNotLmdb) {
  std::filesystem::create_directory(folder_);
  std::ofstream(folder_ + "/data.mdb") << std::string(8192, 'x');
  EXPECT_THAT(test::message_of<DataError>([&] { open(); }),
              HasSubstr("lmdb:" + folder_ + ": cannot open: MDB_INVALID"));
}

TEST_F(LmdbStore, SaysWhatToDoWhenItIsFull) {
  const auto store = open("?map_size=1MiB");
  put(*store, {"kept", "1"});
  std::vector<Record> records;
  for (int i = 0; i < 32; ++i) records.push_back({std::to_string(i), std::string(kMaxValueBytes, 'x')});
  EXPECT_THAT(test::message_of<CannotCreateError>([&] { store->put_many(records); }),
              HasSubstr("?map_size="));
  EXPECT_EQ(store->get("0"), std::nullopt) << "a batch is one transaction";
  EXPECT_THAT(store->get("kept"), Optional(std::string("1")));
}

TEST_F(LmdbStore, TakesNoMoreDiskThanItHolds) {
  put(*open(), {"a", std::string(kMaxValueBytes, 'x')});
  EXPECT_LT(std::filesystem::file_size(folder_ + "/data.mdb"), std::uint64_t{1} << 20);
}

TEST_F(LmdbStore, ServesOthersOfItsProcessAfterOneIsClosed) {
  auto first = open();
  const auto second = open("?prefix=shop");
  put(*first, {"a", "1"});
  first.reset();
  EXPECT_THAT(second->get("a"), Optional(std::string("1")));
  put(*second, {"a", "2"});
  EXPECT_THAT(open()->get("a"), Optional(std::string("2")));
}

TEST_F(LmdbStore, KeepsWhatWasPutWhenTheWriterIsKilled) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto store = open();
    for (int i = 0;; ++i) put(*store, {"a", std::to_string(i)});
  }
  // The child puts and puts until it is killed, most likely in the middle of a transaction.
  while (!std::filesystem::exists(folder_ + "/data.mdb")) ::usleep(1000);
  std::optional<std::string> seen;
  while (!seen) seen = open()->get("a");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const auto store = open();
  EXPECT_GE(std::stoi(store->get("a").value_or("-1")), std::stoi(*seen));
  put(*store, {"a", "after"});
  EXPECT_THAT(store->get("a"), Optional(std::string("after")));
}

// The loader may be a user who can read the file but not write it; as root, the case becomes one.
TEST_F(LmdbStore, CanBeReadWithoutTheRightToWrite) {
  put(*open(), {"a", "1"});
  std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(folder_, std::filesystem::perms(0755));
  std::filesystem::permissions(folder_ + "/data.mdb", std::filesystem::perms(0444));
  std::filesystem::permissions(folder_ + "/lock.mdb", std::filesystem::perms(0666));
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(2);
    const auto store = open();
    const bool can_read = store->get("a") == "1";
    const bool is_refused = test::message_of<PermissionError>([&] {
                              put(*store, {"a", "2"});
                            }).starts_with("lmdb:" + folder_);
    ::_exit(can_read && is_refused ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(LmdbStore, CanBeReadOnAReadOnlyFileSystem) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can mount";
  std::filesystem::create_directory(folder_);
  const test::MountedTmpfs mounted(folder_, "1m");
  if (mounted.error() == EPERM) GTEST_SKIP() << "this root may not mount";
  ASSERT_EQ(mounted.error(), 0);
  put(*open(), {"a", "1"});
  ASSERT_EQ(::mount(nullptr, folder_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  EXPECT_THAT(open_store("lmdb:" + folder_, IfMissing::Refuse)->get("a"), Optional(std::string("1")));
  EXPECT_THAT(test::message_of<PermissionError>([&] {
                put(*open(), {"a", "2"});
              }),
              HasSubstr("lmdb:" + folder_));
}

}  // namespace
}  // namespace keysieve
