#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "core/builder/base/log_positions.hpp"
#include "core/worker/base/clock.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/mounts.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/stores/lmdb_environment.hpp"
#include "tools/stores/store.hpp"

namespace keysieve::test {
namespace {

class LmdbStore : public ::testing::Test {
 protected:
  std::unique_ptr<Store> open(const std::string& query = "") { return open_store("lmdb:" + folder_ + query); }
  // Bypasses the store. No store may be open: LMDB opens a file only once in a process.
  void put_raw(const std::string& key, const std::string& value) const {
    const auto environment = LmdbEnvironment::shared(folder_, std::uint64_t{1} << 20, folder_);
    LmdbTransaction transaction(*environment, 0, folder_);
    transaction.put(key, value);
    transaction.commit();
  }

  TemporaryDirectory directory_;
  std::string folder_ = directory_ / "store";
};

// Like a mount point whose file system is missing, or a file that was never copied.
TEST_F(LmdbStore, IsNotMadeByAReaderInAnEmptyFolderOrFile) {
  const auto failure = [this] {
    return failure_of([&] { open_store("lmdb:" + folder_, IfMissing::Refuse); });
  };
  std::filesystem::create_directory(folder_);
  EXPECT_EQ(failure(), ErrorKind::Unavailable);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  put(*open(), "a", "1");
  std::filesystem::resize_file(folder_ + "/data.mdb", 0);
  EXPECT_EQ(failure(), ErrorKind::Unavailable);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/data.mdb"));
}

TEST_F(LmdbStore, RefusesAFileThatIsNotLmdb) {
  std::filesystem::create_directory(folder_);
  std::ofstream(folder_ + "/data.mdb") << std::string(8192, 'x');
  EXPECT_EQ(failure_of([&] { open(); }), ErrorKind::Data);
}

TEST_F(LmdbStore, PutsOrAppendsAllOrNothingWhenItIsFull) {
  const auto store = open("?map_size=1MiB");
  put(*store, "kept", "1");
  const LogPosition last = append(*store, {"a"});
  const std::vector<std::string> keys{"b", std::string(kMaxLoggedKeyBytes, 'x')};
  EXPECT_EQ(failure_of([&] { append(*store, keys); }), ErrorKind::CannotCreate);
  EXPECT_EQ(store->end_of(kLog), last);
  EXPECT_THAT(keys_in(*store), ElementsAre("a"));
  const std::vector<Record> records = records_of(numbered("", 32), std::string(kMaxValueBytes, 'x'));
  EXPECT_EQ(failure_of([&] { store->put_many(records); }), ErrorKind::CannotCreate);
  EXPECT_EQ(store->get("0"), std::nullopt) << "a batch is one transaction";
  EXPECT_EQ(store->get("kept"), "1");
}

TEST_F(LmdbStore, TakesNoMoreDiskThanItHolds) {
  put(*open(), "a", std::string(kMaxValueBytes, 'x'));
  EXPECT_LT(std::filesystem::file_size(folder_ + "/data.mdb"), std::uint64_t{1} << 20);
}

TEST_F(LmdbStore, ServesOtherStoresOfTheProcessAfterOneIsClosed) {
  auto first = open();
  const auto second = open("?prefix=shop");
  put(*first, "a", "1");
  first.reset();
  EXPECT_EQ(second->get("a"), "1");
  put(*second, "a", "2");
  EXPECT_EQ(open()->get("a"), "2");
}

// A process that waits until it is told to work. It was forked before the test opened a store, which must not
// be used in a fork.
class WaitingProcess {
 public:
  template <typename Work>
  explicit WaitingProcess(Work work) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
    go_ = FileDescriptor(ends[1]);
    const FileDescriptor told(ends[0]);
    child_ = start_process([&] {
      char byte = 0;
      return ::read(told.get(), &byte, 1) == 1 ? work() : kUnexpected;
    });
  }
  [[nodiscard]] int status_of_its_work() const {
    return ::write(go_.get(), "x", 1) == 1 ? wait_for(child_) : kUnexpected;
  }

 private:
  FileDescriptor go_;
  pid_t child_ = -1;
};

// As a restore does, in place or by a rename.
enum class Restore { Copied, Moved };

class RestoredLmdbStore : public LmdbStore, public ::testing::WithParamInterface<Restore> {
 protected:
  [[nodiscard]] std::string database() const { return folder_ + "/data.mdb"; }
  void back_up() const { std::filesystem::copy_file(database(), backup_); }
  void restore() const {
    if (GetParam() == Restore::Copied) {
      std::filesystem::copy_file(backup_, database(), std::filesystem::copy_options::overwrite_existing);
    } else {
      std::filesystem::rename(backup_, database());
    }
  }
  // 0: another process has put it.
  int put_by_others() {
    put(*open(), "b", "of others");
    return 0;
  }

  std::string backup_ = directory_ / "backup";
};

INSTANTIATE_TEST_SUITE_P(Lmdb, RestoredLmdbStore, ::testing::Values(Restore::Copied, Restore::Moved),
                         [](const auto& tested) {
                           return tested.param == Restore::Copied ? "Copied" : "Moved";
                         });

TEST_P(RestoredLmdbStore, IsNotUsedUntilAllHaveClosedIt) {
  for (const int commits : {1, 2, 3}) {  // the older state is at one place or the other
    const WaitingProcess others([this] { return put_by_others(); });
    auto store = open();
    put(*store, "a", "kept");
    for (int i = 0; i < commits; ++i) put(*store, "b", std::to_string(i));
    std::filesystem::remove(backup_);
    back_up();
    for (int i = 0; i <= commits; ++i) put(*store, "c", std::string(50'000, 'x'));
    restore();
    EXPECT_EQ(others.status_of_its_work(), exit_status_of(ErrorKind::Unavailable));
    EXPECT_EQ(failure_of([&] { store->get("a"); }), ErrorKind::Unavailable);
    EXPECT_EQ(failure_of([&] { put(*store, "d", "1"); }), ErrorKind::Unavailable);
    store.reset();
    EXPECT_EQ(run_in_process([this] { return put_by_others(); }), 0);
    store = open();
    EXPECT_EQ(store->get("a"), "kept");
    EXPECT_EQ(store->get("b"), "of others");
    EXPECT_EQ(store->get("c"), std::nullopt);
    store->remove_many(std::vector<std::string>{"a", "b"});
  }
}

// As long as the loader has not looked, too.
TEST_P(RestoredLmdbStore, IsNotUsedThoughItIsNewerThanTheOneInUse) {
  put(*open(), "a", "old");
  std::filesystem::copy_file(database(), directory_ / "old");
  for (int i = 0; i < 5; ++i) put(*open(), "a", "kept");
  back_up();
  std::filesystem::remove(folder_ + "/lock.mdb");
  std::filesystem::rename(directory_ / "old", database());
  const WaitingProcess others([this] { return put_by_others(); });
  auto store = open();
  EXPECT_EQ(store->get("a"), "old");
  restore();
  EXPECT_EQ(others.status_of_its_work(), exit_status_of(ErrorKind::Unavailable));
  EXPECT_EQ(failure_of([&] { store->get("a"); }), ErrorKind::Unavailable);
  store.reset();
  EXPECT_EQ(run_in_process([this] { return put_by_others(); }), 0);
  EXPECT_EQ(open()->get("a"), "kept");
}

TEST_F(LmdbStore, SurvivesThatItsFileIsCutShort) {
  EXPECT_EQ(run_in_process([&] {  // no SIGBUS
              const auto store = open();
              put(*store, "a", std::string(50'000, 'x'));
              std::filesystem::resize_file(folder_ + "/data.mdb", 0);
              return failure_of([&] { store->get("a"); }) == ErrorKind::Unavailable ? 0 : 1;
            }),
            0);
}

// The loader may be a user that can read the file but not write it. As root, the case becomes such a user.
TEST_F(LmdbStore, CanBeReadWithoutTheRightToWrite) {
  put(*open(), "a", "1");
  std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(folder_, std::filesystem::perms(0755));
  std::filesystem::permissions(folder_ + "/data.mdb", std::filesystem::perms(0444));
  std::filesystem::permissions(folder_ + "/lock.mdb", std::filesystem::perms(0666));
  EXPECT_EQ(run_in_process([&] {
              constexpr uid_t kNobody = 65534;
              if (is_root() && ::setuid(kNobody) != 0) return kUnexpected;
              const auto store = open();
              const bool can_read = store->get("a") == "1" && store->keys_with_prefix("").size() == 1 &&
                                    store->end_of(kLog) == kBeforeAll && keys_in(*store).empty();
              const auto failure = failure_of([&] { put(*store, "a", "2"); });
              return can_read && failure == ErrorKind::Permission ? 0 : 1;
            }),
            0);
}

TEST_F(LmdbStore, CanBeReadOnAReadOnlyFileSystem) {
  std::filesystem::create_directory(folder_);
  const MountedTmpfs mounted(folder_, "1m");
  if (!mounted.is_there()) GTEST_SKIP() << "this user may not mount";
  put(*open(), "a", "1");
  ASSERT_EQ(::mount(nullptr, folder_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  const auto store = open_store("lmdb:" + folder_, IfMissing::Refuse);
  EXPECT_EQ(store->get("a"), "1");
  EXPECT_EQ(store->end_of(kLog), LogPosition{});
  store->watch();
  EXPECT_EQ(failure_of([&] { put(*store, "a", "2"); }), ErrorKind::Permission);
  EXPECT_EQ(failure_of([&] { append(*store, {"b"}); }), ErrorKind::Permission);
}

// Runs `work` as the first process of its own PID namespace, like the program of a container.
template <typename Work>
pid_t start_in_container(Work work) {
  return start_process([&] {
    if (::unshare(CLONE_NEWPID) != 0) return kUnexpected;
    return run_in_process([&] { return ::getpid() == 1 ? work() : kUnexpected; });
  });
}

TEST_F(LmdbStore, IsNotOpenedByProcessesWithTheSameIdInTwoContainers) {
  if (!is_root()) GTEST_SKIP() << "only root can make a PID namespace";
  if (wait_for(start_in_container([] { return 0; })) != 0) GTEST_SKIP() << "this root may not";
  put(*open(), "a", "1");
  std::array<int, 2> opened{};
  std::array<int, 2> closing{};
  ASSERT_EQ(::pipe(opened.data()), 0);
  ASSERT_EQ(::pipe(closing.data()), 0);
  char byte = 0;
  const pid_t loader = start_in_container([&] {
    const auto store = open();
    const bool is_told = ::write(opened[1], "o", 1) == 1 && ::read(closing[0], &byte, 1) == 1;
    return is_told && store->get("a") == "1" ? 0 : 1;
  });
  ASSERT_EQ(::read(opened[0], &byte, 1), 1);
  const auto refusal_in_container = [&] {
    return wait_for(start_in_container(
        [&] { return failure_of([&] { put(*open(), "a", "2"); }) == ErrorKind::Unavailable ? 0 : 1; }));
  };
  EXPECT_EQ(refusal_in_container(), 0);
  EXPECT_EQ(open()->get("a"), "1") << "this process has another id";
  ASSERT_EQ(::write(closing[1], "c", 1), 1);
  EXPECT_EQ(wait_for(loader), 0);
  EXPECT_EQ(wait_for(start_in_container([&] { return open()->get("a") == "1" ? 0 : 1; })), 0);
  for (const int end : {opened[0], opened[1], closing[0], closing[1]}) ::close(end);
}

// Each of them may be the last to close it while another opens it.
TEST_F(LmdbStore, IsOpenedAndClosedByManyProcessesAtOnce) {
  put(*open(), "a", "1");
  std::array<pid_t, 4> processes{};
  for (pid_t& process : processes) {
    process = start_process([this] {
      for (int i = 0; i < 250; ++i) {
        if (open()->get("a") != "1") return 1;
      }
      return 0;
    });
  }
  for (const pid_t process : processes) EXPECT_EQ(wait_for(process), 0);
}

// The log is as a writer finds it whose clock is behind. This also fixes the names of a log's keys.
TEST_F(LmdbStore, PositionsRiseWhenTheClockGoesBack) {
  open();
  const LogPosition ahead = log_position(static_cast<std::uint64_t>(unix_now_ms()) + 3'600'000, 5);
  const std::string position(ahead.begin(), ahead.end());
  put_raw('\0' + kLog + '\0', position + position + std::string(8, '\0'));  // begun, end, count
  EXPECT_EQ(open()->end_of(kLog), ahead);
  EXPECT_EQ(append(*open(), {"a", "b"}), log_position(milliseconds_of(ahead), 7));
  open()->trim(kLog, log_position(~std::uint64_t{0}, 0));
  EXPECT_EQ(append(*open(), {"c"}), log_position(milliseconds_of(ahead), 8)) << "after a trim, too";
}

TEST_F(LmdbStore, RefusesALogThatHoldsAWrongHead) {
  open();
  put_raw('\0' + kLog + '\0', "short");
  const auto store = open();
  EXPECT_EQ(failure_of([&] { store->end_of(kLog); }), ErrorKind::Data);
  EXPECT_EQ(failure_of([&] { append(*store, {"a"}); }), ErrorKind::Data);
  put(*store, "a", "1");
  EXPECT_EQ(store->get("a"), "1");
}

TEST_F(LmdbStore, ReusesTheSpaceOfTrimmedEntries) {
  const auto store = open("?map_size=4MiB");
  for (int round = 0; round < 20; ++round) {
    const LogPosition last = append(*store, std::vector<std::string>(500, std::string(1000, 'x')));
    store->trim(kLog, last);
  }
  EXPECT_LT(std::filesystem::file_size(folder_ + "/data.mdb"), std::uint64_t{4} << 20);
}

}  // namespace
}  // namespace keysieve::test
