#include "tools/loader/store_watcher.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <filesystem>

#include "tests/support/store_decorator.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {
namespace {

constexpr SteadyTime kWatchedSince{std::chrono::hours(1)};
constexpr const char* kLog = "keysieve:tags:adds";

class StoreWatcherTest : public ::testing::Test {
 protected:
  StoreWatcherTest() { open_store(url_); }  // makes it

  bool arm(SteadyTime now) {
    const std::vector<WatchedLog> logs{{kLog, seen_}};
    return watcher_.arm(logs, now);
  }
  void append() {
    const std::string key = "key";
    seen_ = open_store(url_)->append(kLog, std::span(&key, 1));
  }
  [[nodiscard]] bool is_readable() const {
    std::vector<pollfd> waiting;
    for (const int descriptor : watcher_.descriptors()) waiting.push_back({descriptor, POLLIN, 0});
    return ::poll(waiting.data(), waiting.size(), 0) > 0;
  }
  void take_all(SteadyTime now) {
    while (is_readable()) watcher_.take(now);
  }

  TemporaryDirectory directory_;
  std::string url_ = "dir:" + directory_ / "store";
  StoreWatcher watcher_{store_opener(url_)};
  LogPosition seen_{};
};

TEST_F(StoreWatcherTest, IsDueAtOnceAndNewOnce) {
  EXPECT_LE(watcher_.due_at(), kWatchedSince);
  EXPECT_TRUE(watcher_.descriptors().empty());
  EXPECT_TRUE(arm(kWatchedSince));
  EXPECT_TRUE(watcher_.is_watching());
  EXPECT_EQ(watcher_.due_at(), SteadyTime::max());
  EXPECT_FALSE(arm(kWatchedSince));
}

TEST_F(StoreWatcherTest, NamesALogThatHasGrown) {
  arm(kWatchedSince);
  take_all(kWatchedSince);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(is_readable());
    EXPECT_TRUE(watcher_.take(kWatchedSince).empty());
    append();
    EXPECT_TRUE(is_readable());
    EXPECT_EQ(watcher_.take(kWatchedSince), std::vector<std::string>{kLog});
    arm(kWatchedSince);
    take_all(kWatchedSince);
  }
}

TEST_F(StoreWatcherTest, IsMadeAgainAfterABackoffWhenItHasFailed) {
  arm(kWatchedSince);
  std::filesystem::remove_all(directory_ / "store");
  EXPECT_TRUE(is_readable());
  EXPECT_TRUE(watcher_.take(kWatchedSince).empty());
  EXPECT_FALSE(watcher_.is_watching());
  EXPECT_TRUE(watcher_.descriptors().empty());
  EXPECT_GT(watcher_.due_at(), kWatchedSince);
  open_store(url_);
  EXPECT_FALSE(arm(kWatchedSince + Milliseconds(100)));
  EXPECT_TRUE(arm(kWatchedSince + Milliseconds(700)));
}

TEST_F(StoreWatcherTest, IsMadeAgainWhenItsStoreWasAway) {
  arm(kWatchedSince);
  watcher_.drop(kWatchedSince);
  EXPECT_FALSE(watcher_.is_watching());
  EXPECT_TRUE(watcher_.arm({}, watcher_.due_at())) << "no log can be read from a store that is away";
}

// Should the store fail right after each success, that is no reason to try more often.
TEST_F(StoreWatcherTest, KeepsItsBackoffUntilAWatchHasServedForAWhile) {
  SteadyTime now = kWatchedSince;
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(arm(now));
    watcher_.drop(now);
    now = watcher_.due_at();
  }
  EXPECT_TRUE(arm(now));
  watcher_.drop(now);
  EXPECT_GE(watcher_.due_at() - now, std::chrono::seconds(25));
  now = watcher_.due_at();
  EXPECT_TRUE(arm(now));
  now += std::chrono::minutes(1);
  watcher_.drop(now);
  EXPECT_LE(watcher_.due_at() - now, std::chrono::seconds(1));
}

// A store of the network that is polled alone.
class UnwatchableStore : public StoreDecorator {
 public:
  explicit UnwatchableStore(std::unique_ptr<Store> real) : StoreDecorator(*real), real_(std::move(real)) {}
  std::unique_ptr<StoreWatch> watch() override { return nullptr; }

 private:
  std::unique_ptr<Store> real_;
};

// Otherwise one timeout follows the other, and the other stores wait.
TEST_F(StoreWatcherTest, WaitsFromTheEndOfALongTimeout) {
  constexpr Milliseconds kWait{1};  // the shortest, without jitter
  StoreWatcher watcher([]() -> std::unique_ptr<Store> { throw Error(ErrorKind::Unavailable, "no answer"); },
                       kWait);
  EXPECT_FALSE(watcher.arm({}, kWatchedSince));
  EXPECT_GT(watcher.due_at(), kWatchedSince + kWait);
}

TEST_F(StoreWatcherTest, LeavesAStoreToPollingThatCannotBeWatched) {
  StoreWatcher watcher([this] { return std::make_unique<UnwatchableStore>(open_store(url_)); });
  EXPECT_FALSE(watcher.arm({}, kWatchedSince));
  EXPECT_FALSE(watcher.is_watching());
  EXPECT_TRUE(watcher.descriptors().empty());
  EXPECT_EQ(watcher.due_at(), SteadyTime::max());
}

}  // namespace
}  // namespace keysieve::test
