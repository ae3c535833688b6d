#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "core/base/clock.hpp"
#include "core/base/file_descriptor.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/sample_log.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/stores/log_file.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {
namespace {

using test::kLog;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
namespace fs = std::filesystem;

class DirStore : public ::testing::Test {
 protected:
  std::unique_ptr<Store> open() { return open_store("dir:" + folder_ + "?timeout=50ms"); }
  static void put(Store& store, const Record& record) { store.put_many(std::span(&record, 1)); }
  static LogPosition append(Store& store, const std::vector<std::string>& keys) {
    return store.append(kLog, keys);
  }
  static std::vector<std::string> keys_in(Store& store) {
    std::vector<std::string> keys;
    for (const LogEntry& entry : store.read_after(kLog, {}, 1000)) keys.push_back(*entry.key);
    return keys;
  }

  test::TemporaryDirectory directory_;
  std::string folder_ = directory_ / "store";
};

TEST_F(DirStore, IsUnavailableWithoutAParentFolder) {
  folder_ = directory_ / "missing/store";
  EXPECT_EQ(test::message_of<ErrorKind::Unavailable>([&] { open(); }),
            "dir:" + folder_ + ": cannot create the folder: No such file or directory");
}

TEST_F(DirStore, IsUnavailableWhereAFileLies) {
  std::ofstream(folder_) << "a file";
  EXPECT_EQ(test::message_of<ErrorKind::Unavailable>([&] { open(); }),
            "dir:" + folder_ + ": cannot open the folder: Not a directory");
}

TEST_F(DirStore, DoesNotMistakeAFolderThatIsGoneForAnEmptyOne) {
  const auto store = open();
  put(*store, {"a", "1"});
  fs::remove_all(folder_);
  EXPECT_THAT([&] { store->get("a"); }, test::fails(ErrorKind::Unavailable));
  EXPECT_THAT([&] { put(*store, {"a", "2"}); }, test::fails(ErrorKind::Unavailable));
  fs::create_directory(folder_);
  EXPECT_EQ(store->get("a"), std::nullopt);
}

TEST_F(DirStore, IsNotCreatedByWhoOnlyReads) {
  EXPECT_EQ(
      test::message_of<ErrorKind::Unavailable>([&] { open_store("dir:" + folder_, IfMissing::Refuse); }),
      "dir:" + folder_ + ": cannot open the folder: No such file or directory");
  EXPECT_FALSE(fs::exists(folder_));
  put(*open(), {"a", "1"});
  EXPECT_THAT(open_store("dir:" + folder_, IfMissing::Refuse)->get("a"), Optional(std::string("1")));
}

TEST_F(DirStore, RefusesAFileLargerThanARecord) {
  const auto store = open();
  std::ofstream(folder_ + "/a") << std::string(kMaxValueBytes + 1, 'x');
  EXPECT_THAT(test::message_of<ErrorKind::Data>([&] { store->get("a"); }), HasSubstr("a: is larger than"));
}

TEST_F(DirStore, FollowsNoSymbolicLink) {
  const auto store = open();
  std::ofstream(directory_ / "elsewhere") << "foreign";
  fs::create_symlink(directory_ / "elsewhere", folder_ + "/a");
  EXPECT_THAT(test::message_of<ErrorKind::Unavailable>([&] { store->get("a"); }),
              HasSubstr("symbolic links"));
}

TEST_F(DirStore, NamesFilesAfterTheirKeys) {
  put(*open(), {"keysieve:tags:current", "{}"});
  EXPECT_TRUE(fs::exists(folder_ + "/keysieve:tags:current"));
}

TEST_F(DirStore, LeavesNoTemporaryFiles) {
  const auto store = open();
  fs::create_directory(folder_ + "/taken");  // no file can be renamed over a folder
  EXPECT_THAT([&] { put(*store, {"taken", "1"}); }, test::fails(ErrorKind::Unavailable));
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
  EXPECT_EQ(test::message_of<ErrorKind::Unavailable>([&] {
              store->put_if_absent({"b", "1"});
            }),
            "dir:" + folder_ + ": another client holds the lock for more than 50 ms");
  EXPECT_THAT(store->get("a"), Optional(std::string("1"))) << "reading needs no lock";
}

TEST_F(DirStore, LeavesNothingOfManyRecordsWhenOneCannotBePut) {
  const auto store = open();
  fs::create_directory(folder_ + "/taken");
  std::vector<Record> records;
  for (int i = 0; i < 50; ++i) records.push_back({"key" + std::to_string(i), "1"});
  records.push_back({"taken", "1"});
  EXPECT_THAT([&] { store->put_many(records); }, test::fails(ErrorKind::Unavailable));
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".put-")) << entry.path();
  }
}

TEST_F(DirStore, PutsMoreRecordsAtOnceThanItMayHaveFilesOpen) {
  EXPECT_EQ(test::run_in_process([this] {
              const rlimit limit{30, 30};
              if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return test::kUnexpected;
              std::vector<Record> records;
              for (int i = 0; i < 100; ++i) records.push_back({"key" + std::to_string(i), "1"});
              const auto store = open();
              store->put_many(records);
              return store->keys_with_prefix("key").size() == 100 ? 0 : 1;
            }),
            0);
}

TEST_F(DirStore, KeepsALogInAFileBesideTheRecords) {
  const auto store = open();
  append(*store, {"a"});
  EXPECT_TRUE(fs::exists(folder_ + "/.log-" + kLog));
  put(*store, {kLog, "a record of the same name"});
  append(*store, {"b"});
  EXPECT_THAT(store->get(kLog), Optional(std::string("a record of the same name")));
  EXPECT_THAT(keys_in(*store), ElementsAre("a", "b"));
  EXPECT_THAT(store->keys_with_prefix("keysieve:"), ElementsAre(kLog));
}

TEST_F(DirStore, DoesNotMistakeAFolderThatIsGoneForAnEmptyLog) {
  const auto store = open();
  append(*store, {"a"});
  fs::remove_all(folder_);
  EXPECT_THAT([&] { keys_in(*store); }, test::fails(ErrorKind::Unavailable));
  EXPECT_THAT([&] { store->end_of(kLog); }, test::fails(ErrorKind::Unavailable));
  EXPECT_THAT([&] { append(*store, {"b"}); }, test::fails(ErrorKind::Unavailable));
  EXPECT_THAT([&] { store->trim(kLog, {}); }, test::fails(ErrorKind::Unavailable));
  EXPECT_THAT([&] { store->keys_with_prefix(""); }, test::fails(ErrorKind::Unavailable));
}

TEST_F(DirStore, NamesTheFileOfADamagedLog) {
  append(*open(), {"a"});
  std::fstream(folder_ + "/.log-" + kLog, std::ios::in | std::ios::out).put('x');
  EXPECT_EQ(test::message_of<ErrorKind::Data>([&] { open()->end_of(kLog); }),
            folder_ + "/.log-" + kLog + ": is damaged at byte 0");
}

TEST_F(DirStore, PositionsRiseWhenTheClockGoesBack) {
  const auto store = open();
  const LogPosition ahead = log_position(static_cast<std::uint64_t>(unix_now_ms()) + 3'600'000, 5);
  const LogEntry entry{ahead, "by a clock that was ahead"};
  LogFile(folder_ + "/.log-" + kLog).append(std::span(&entry, 1));
  EXPECT_EQ(append(*store, {"a", "b"}), log_position(milliseconds_of(ahead), 7));
  store->trim(kLog, store->end_of(kLog));
  EXPECT_EQ(append(*open(), {"c"}), log_position(milliseconds_of(ahead), 8)) << "after a trim, too";
}

TEST_F(DirStore, ListsNoFilesThatAreNoRecords) {
  const auto store = open();
  put(*store, {"a", "1"});
  for (const char* name : {"a b", "%2e", "%", "%zz", ".hidden", "b%2"})
    std::ofstream(folder_ + "/" + name) << "foreign";
  fs::create_directory(folder_ + "/folder");
  EXPECT_THAT(store->keys_with_prefix(""), ElementsAre("a"));
}

TEST_F(DirStore, WatchEndsWithTheFolder) {
  const auto store = open();
  const auto removed = store->watch();
  const auto renamed = store->watch();
  fs::rename(folder_, folder_ + ".old");
  EXPECT_THAT(test::message_of<ErrorKind::Unavailable>([&] { renamed->take(); }),
              HasSubstr("dir:" + folder_ + ": cannot watch: No such file"));
  fs::remove_all(folder_ + ".old");
  EXPECT_THAT([&] { removed->take(); }, test::fails(ErrorKind::Unavailable));
  EXPECT_THAT([&] { store->watch(); }, test::fails(ErrorKind::Unavailable));
}

TEST_F(DirStore, WatchPassesOverFilesThatAreBeingWritten) {
  const auto store = open();
  const auto watch = store->watch();
  const WatchedLog log{kLog, {}};
  watch->arm(std::span(&log, 1));
  EXPECT_THAT(watch->take(), ElementsAre(kLog)) << "since it was armed for the first time";
  std::ofstream(folder_ + "/.put-1") << "part";
  EXPECT_THAT(watch->take(), IsEmpty());
  fs::rename(folder_ + "/.put-1", folder_ + "/keysieve:tags:current");
  EXPECT_THAT(watch->take(), ElementsAre(kLog));
}

}  // namespace
}  // namespace keysieve
