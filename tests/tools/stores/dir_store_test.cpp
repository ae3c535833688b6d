#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>

#include <filesystem>
#include <fstream>

#include "core/base/file_descriptor.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;
namespace fs = std::filesystem;

class DirStore : public ::testing::Test {
 protected:
  std::unique_ptr<Store> open() { return open_store("dir:" + folder_ + "?timeout=50ms"); }
  static void put(Store& store, const Record& record) { store.put_many(std::span(&record, 1)); }

  test::TemporaryDirectory directory_;
  std::string folder_ = directory_ / "store";
};

TEST_F(DirStore, IsUnavailableWithoutAParentFolder) {
  folder_ = directory_ / "missing/store";
  EXPECT_EQ(test::message_of<UnavailableError>([&] { open(); }),
            "dir:" + folder_ + ": cannot create the folder: No such file or directory");
}

TEST_F(DirStore, IsUnavailableWhereAFileLies) {
  std::ofstream(folder_) << "a file";
  EXPECT_EQ(test::message_of<UnavailableError>([&] { open(); }),
            "dir:" + folder_ + ": cannot open the folder: Not a directory");
}

TEST_F(DirStore, DoesNotMistakeAFolderThatIsGoneForAnEmptyOne) {
  const auto store = open();
  put(*store, {"a", "1"});
  fs::remove_all(folder_);
  EXPECT_THROW(store->get("a"), UnavailableError);
  EXPECT_THROW(put(*store, {"a", "2"}), UnavailableError);
  fs::create_directory(folder_);
  EXPECT_EQ(store->get("a"), std::nullopt);
}

TEST_F(DirStore, IsNotCreatedByWhoOnlyReads) {
  EXPECT_EQ(test::message_of<UnavailableError>([&] { open_store("dir:" + folder_, IfMissing::Refuse); }),
            "dir:" + folder_ + ": cannot open the folder: No such file or directory");
  EXPECT_FALSE(fs::exists(folder_));
  put(*open(), {"a", "1"});
  EXPECT_THAT(open_store("dir:" + folder_, IfMissing::Refuse)->get("a"), Optional(std::string("1")));
}

TEST_F(DirStore, RefusesAFileLargerThanARecord) {
  const auto store = open();
  std::ofstream(folder_ + "/a") << std::string(kMaxValueBytes + 1, 'x');
  EXPECT_THAT(test::message_of<DataError>([&] { store->get("a"); }), HasSubstr("a: is larger than"));
}

TEST_F(DirStore, FollowsNoSymbolicLink) {
  const auto store = open();
  std::ofstream(directory_ / "elsewhere") << "foreign";
  fs::create_symlink(directory_ / "elsewhere", folder_ + "/a");
  EXPECT_THAT(test::message_of<UnavailableError>([&] { store->get("a"); }), HasSubstr("symbolic links"));
}

TEST_F(DirStore, NamesFilesAfterTheirKeys) {
  put(*open(), {"keysieve:tags:current", "{}"});
  EXPECT_TRUE(fs::exists(folder_ + "/keysieve:tags:current"));
}

TEST_F(DirStore, LeavesNoTemporaryFiles) {
  const auto store = open();
  fs::create_directory(folder_ + "/taken");  // no file can be renamed over a folder
  EXPECT_THROW(put(*store, {"taken", "1"}), UnavailableError);
  put(*store, {"a", "1"});
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_EQ(entry.path().filename().string().find(".put-"), std::string::npos) << entry.path();
  }
}

TEST_F(DirStore, RemovesTheTemporaryFilesOfWritersThatWereKilled) {
  put(*open(), {"a", "1"});
  for (const char* name : {".put-1", ".put-2"}) std::ofstream(folder_ + "/" + name) << "part";
  const auto long_ago = fs::file_time_type::clock::now() - kAbandonedAfter - std::chrono::minutes(1);
  for (const char* name : {".put-1", "a"}) fs::last_write_time(folder_ + "/" + name, long_ago);
  open_store("dir:" + folder_, IfMissing::Refuse);
  EXPECT_TRUE(fs::exists(folder_ + "/.put-1")) << "who only reads removes nothing";
  const auto store = open();
  EXPECT_FALSE(fs::exists(folder_ + "/.put-1"));
  EXPECT_TRUE(fs::exists(folder_ + "/.put-2")) << "its writer may be at work";
  EXPECT_THAT(store->get("a"), Optional(std::string("1")));
}

TEST_F(DirStore, GivesUpOnALockThatIsHeldTooLong) {
  const auto store = open();
  put(*store, {"a", "1"});
  const FileDescriptor other(::open((folder_ + "/.lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(other.get(), LOCK_EX), 0);
  EXPECT_EQ(test::message_of<UnavailableError>([&] {
              store->put_if_absent({"b", "1"});
            }),
            "dir:" + folder_ + ": another client holds the lock for more than 50 ms");
  EXPECT_THAT(store->get("a"), Optional(std::string("1"))) << "reading needs no lock";
}

}  // namespace
}  // namespace keysieve
