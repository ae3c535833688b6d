#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <filesystem>
#include <fstream>

#include "core/builder/base/log_positions.hpp"
#include "core/worker/base/clock.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "tests/support/call_faults.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/stores/log_file.hpp"
#include "tools/stores/store.hpp"

namespace keysieve::test {
namespace {

namespace fs = std::filesystem;

class DirStore : public ::testing::Test {
 protected:
  std::unique_ptr<Store> open() { return open_store("dir:" + folder_ + "?timeout=50ms"); }

  TemporaryDirectory directory_;
  std::string folder_ = directory_ / "store";
};

TEST_F(DirStore, DoesNotMistakeAMissingFolderForAnEmptyOne) {
  const auto store = open();
  put(*store, "a", "1");
  append(*store, {"a"});
  fs::remove_all(folder_);
  EXPECT_EQ(failure_of([&] { store->get("a"); }), ErrorKind::Unavailable);
  EXPECT_EQ(failure_of([&] { put(*store, "a", "2"); }), ErrorKind::Unavailable);
  EXPECT_EQ(failure_of([&] { keys_in(*store); }), ErrorKind::Unavailable);
  EXPECT_EQ(failure_of([&] { store->end_of(kLog); }), ErrorKind::Unavailable);
  EXPECT_EQ(failure_of([&] { append(*store, {"b"}); }), ErrorKind::Unavailable);
  EXPECT_EQ(failure_of([&] { store->trim(kLog, {}); }), ErrorKind::Unavailable);
  EXPECT_EQ(failure_of([&] { store->keys_with_prefix(""); }), ErrorKind::Unavailable);
  fs::create_directory(folder_);
  EXPECT_EQ(store->get("a"), std::nullopt);
}

// A web server reads it by its group.
TEST_F(DirStore, GivesTheFoldersGroupWhatTheFolderGivesItWhateverTheUmask) {
  if (!is_root()) GTEST_SKIP() << "only root can give a folder to another group";
  for (const auto& [of_folder, of_files] : {std::pair(02750U, 0640U), {0770U, 0660U}, {0700U, 0600U}}) {
    for (const mode_t mask : {077U, 022U, 0U}) {
      fs::remove_all(folder_);
      fs::create_directory(folder_);
      ASSERT_EQ(::chown(folder_.c_str(), kOtherUser, kWorkerGroup), 0);
      ASSERT_EQ(::chmod(folder_.c_str(), of_folder), 0);
      const mode_t before = ::umask(mask);
      const auto store = open();
      put(*store, "a", "1");
      store->put_many(records_of(numbered("many", 10), "1"));
      append(*store, {"b", "c"});
      store->trim(kLog, store->read_after(kLog, {}, 1).at(0).position);
      append(*store, {"d"});
      store->remove_many(std::vector<std::string>{"a"});
      ::umask(before);
      std::size_t files = 0;
      for (const auto& file : fs::directory_iterator(folder_)) {
        struct stat status {};
        ASSERT_EQ(::stat(file.path().c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 07777, of_files)
            << file << " in a folder of mode " << std::oct << of_folder;
        EXPECT_EQ(status.st_gid, kWorkerGroup) << file;
        ++files;
      }
      EXPECT_EQ(files, 10U + 3U) << "records, log, lock, changes";
    }
  }
}

TEST_F(DirStore, MakesAFolderForTheGroupThatTheFolderAroundItHandsOnWhateverTheUmask) {
  for (const auto& [around, made] : {std::pair(02750U, 02750U), {0750U, 0700U}}) {
    fs::remove_all(folder_);
    fs::permissions(directory_.path(), fs::perms(around));
    const mode_t before = ::umask(077);
    open();
    ::umask(before);
    EXPECT_EQ(fs::status(folder_).permissions(), fs::perms(made));
  }
}

// Its group is no business of a user who is not in it.
TEST_F(DirStore, LeavesTheUmaskInForceForAUserOutsideOfTheGroup) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  fs::create_directory(folder_);
  fs::permissions(directory_.path(), fs::perms(0755));
  ASSERT_EQ(::chown(folder_.c_str(), kOtherUser, kWorkerGroup), 0);
  ASSERT_EQ(::chmod(folder_.c_str(), 0770), 0);
  EXPECT_EQ(run_as(kOtherUser, kOtherUser,
                   [this] {
                     ::umask(077);
                     put(*open(), "a", "1");
                     struct stat status {};
                     return ::stat((folder_ + "/a").c_str(), &status) == 0 && (status.st_mode & 077) == 0 ? 0
                                                                                                          : 1;
                   }),
            0);
}

// It waits for no FIFO.
TEST_F(DirStore, TakesNothingButAFileForARecordOrALog) {
  const auto store = open();
  const std::string log = ".log-" + kLog;
  const auto failure = [&](const std::string& name) {
    return failure_of(
        [&] { name == log ? static_cast<void>(keys_in(*store)) : static_cast<void>(store->get(name)); });
  };
  std::ofstream(directory_ / "elsewhere") << "foreign";
  for (const std::string& name : {std::string("a"), log}) {
    const std::string path = folder_ + "/" + name;
    fs::create_symlink(directory_ / "elsewhere", path);
    EXPECT_EQ(failure(name), ErrorKind::Data) << name;
    fs::remove(path);
    fs::create_directory(path);
    EXPECT_EQ(failure(name), ErrorKind::Data) << name;
    fs::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_EQ(failure(name), ErrorKind::Data) << name;
    fs::remove(path);
  }
}

TEST_F(DirStore, RemovesTheTemporaryFilesOfKilledWriters) {
  put(*open(), "a", "1");
  for (const char* name : {".put-1", ".put-2"}) std::ofstream(folder_ + "/" + name) << "part";
  const auto long_ago = fs::file_time_type::clock::now() - kAbandonedAfter - std::chrono::minutes(1);
  for (const char* name : {".put-1", "a"}) fs::last_write_time(folder_ + "/" + name, long_ago);
  open_store("dir:" + folder_, IfMissing::Refuse);
  EXPECT_TRUE(fs::exists(folder_ + "/.put-1")) << "who only reads removes nothing";
  const auto store = open();
  EXPECT_FALSE(fs::exists(folder_ + "/.put-1"));
  EXPECT_TRUE(fs::exists(folder_ + "/.put-2")) << "its writer may be at work";
  EXPECT_EQ(store->get("a"), "1");
}

TEST_F(DirStore, GivesUpOnALockThatIsHeldTooLong) {
  const auto store = open();
  put(*store, "a", "1");
  const FileDescriptor other(::open((folder_ + "/.lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(other.get(), LOCK_EX), 0);
  const Record record{"b", "1"};
  EXPECT_EQ(failure_of([&] { store->put_if_absent(record); }), ErrorKind::Unavailable);
  EXPECT_EQ(store->get("a"), "1") << "reading needs no lock";
}

TEST_F(DirStore, LeavesNoTemporaryFiles) {
  const auto store = open();
  fs::create_directory(folder_ + "/taken");  // no file can be renamed over a folder
  for (const int others : {0, 50}) {
    std::vector<Record> records = records_of(numbered("key", others), "1");
    records.push_back({"taken", "1"});
    EXPECT_EQ(failure_of([&] { store->put_many(records); }), ErrorKind::Data);
  }
  put(*store, "a", "1");
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".put-")) << entry.path();
  }
}

TEST_F(DirStore, ChangesNothingWhenThereIsNoRoomForTheNamesOfNewFiles) {
  if (!can_trace()) GTEST_SKIP() << "this machine allows no tracing";
  const auto store = open();
  put(*store, "a", "1");
  const std::vector<std::function<void(Store&)>> changes{[](Store& other) { remove_record(other, "a"); },
                                                         [](Store& other) { put(other, "a", "2"); },
                                                         [](Store& other) { append(other, {"b"}); }};
  CallFaults faults;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    for (int at = 1;; ++at) {
      const FaultyEnd end = faults.meet({"ENOSPC", ENOSPC}, at, [&] { changes[i](*open()); });
      if (!end.has_met_fault) break;
      if (end.call == SYS_linkat) {
        EXPECT_FALSE(end.is_done);
        EXPECT_EQ(store->get("a"), "1") << i << " at " << at;
        EXPECT_THAT(keys_in(*store), IsEmpty()) << i << " at " << at;
      }
      put(*store, "a", "1");
      fs::remove(folder_ + "/.log-" + kLog);
    }
  }
}

TEST_F(DirStore, PutsMoreRecordsAtOnceThanItMayOpenFiles) {
  EXPECT_EQ(run_in_process([this] {
              const rlimit limit{30, 30};
              if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return kUnexpected;
              const auto store = open();
              store->put_many(records_of(numbered("key", 100), "1"));
              return store->keys_with_prefix("key").size() == 100 ? 0 : 1;
            }),
            0);
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

TEST_F(DirStore, ListsOnlyFilesThatAreRecords) {
  const auto store = open();
  put(*store, "a", "1");
  for (const char* name : {"a b", "%2e", "%", "%zz", ".hidden", "b%2"})
    std::ofstream(folder_ + "/" + name) << "foreign";
  fs::create_directory(folder_ + "/folder");
  EXPECT_THAT(store->keys_with_prefix(""), ElementsAre("a"));
}

TEST_F(DirStore, WatchIgnoresFilesThatAreBeingWritten) {
  const auto store = open();
  const auto watch = store->watch();
  std::ofstream(folder_ + "/.put-1") << "part";
  EXPECT_THAT(watch->take(), IsEmpty());
  fs::rename(folder_ + "/.put-1", folder_ + "/.changes");
  EXPECT_THAT(watch->take(), ElementsAre(""));
}

// What the stores in a folder have in common, beyond the behaviour of every store.

class FolderStore : public StoreConformance {
 protected:
  std::string folder_ = directory_ / GetParam().name;
};

INSTANTIATE_TEST_SUITE_P(Stores, FolderStore, ::testing::Values(kLmdb, kDir), store_kind_name);

TEST_P(FolderStore, IsUnavailableWithoutAParentFolder) {
  const std::string url = std::string(GetParam().name) + ":" + directory_ / "missing/store";
  EXPECT_EQ(failure_of([&] { open_store(url); }), ErrorKind::Unavailable);
}

TEST_P(FolderStore, KeepsALogApartFromARecordOfTheSameName) {
  const auto store = open();
  append(*store, {"a"});
  put(*store, kLog, "a record of the same name");
  append(*store, {"b"});
  EXPECT_EQ(store->get(kLog), "a record of the same name");
  EXPECT_THAT(keys_in(*store), ElementsAre("a", "b"));
  EXPECT_THAT(store->keys_with_prefix(""), ElementsAre(kLog));
}

TEST_P(FolderStore, WatchEndsWithTheFolder) {
  const auto store = open();
  const auto removed = store->watch();
  const auto renamed = store->watch();
  fs::rename(folder_, folder_ + ".old");
  EXPECT_EQ(failure_of([&] { renamed->take(); }), ErrorKind::Unavailable);
  fs::remove_all(folder_ + ".old");
  EXPECT_EQ(failure_of([&] { removed->take(); }), ErrorKind::Unavailable);
  EXPECT_EQ(failure_of([&] { store->watch(); }), ErrorKind::Unavailable);
}

}  // namespace
}  // namespace keysieve::test
