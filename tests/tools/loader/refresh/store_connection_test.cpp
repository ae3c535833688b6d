#include "tools/loader/refresh/store_connection.hpp"

#include <poll.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "tests/support/forked.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/store_decorator.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/loader/config/schedule.hpp"
#include "tools/stores/redis/redis_slots.hpp"

namespace keysieve::test {
namespace {

constexpr Milliseconds kEachSecond{1000};
constexpr Milliseconds kShortestWait{1};  // without jitter
constexpr SteadyTime kFirstTry{std::chrono::hours(1)};

bool has_seed(Store& store) {
  return store.get(store.prefix() + ":seed").has_value();
}
bool lose(Store& /*store*/) {
  lose_connection();
}

TEST(StoreConnection, LeavesAFailedStoreAloneUntilItsNextRoundOrUntilToldToAsk) {
  RedisServer redis;
  StoreConnection connection(store_opener(redis.unix_url()), "redis", kEachSecond);
  EXPECT_FALSE(connection.use(kFirstTry, has_seed));
  redis.kill();
  const auto failure = message_of<ErrorKind::Unavailable>([&] { connection.use(kFirstTry, has_seed); });
  EXPECT_FALSE(failure.empty());
  redis.start();

  int asked = 0;
  const auto count = [&](Store& store) {
    ++asked;
    return has_seed(store);
  };
  EXPECT_EQ(message_of<ErrorKind::Unavailable>([&] { connection.use(kFirstTry + Milliseconds(400), count); }),
            failure);
  EXPECT_EQ(asked, 0);
  const SteadyTime later = kFirstTry + std::chrono::minutes(2);
  EXPECT_FALSE(connection.use(later, count));
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(failure_of([&] { connection.use(later, lose); }), ErrorKind::Unavailable);
  EXPECT_EQ(failure_of([&] { connection.use(later, count); }), ErrorKind::Unavailable);
  connection.try_again_now();
  EXPECT_FALSE(connection.use(later, count));
}

// Thousands of sets would wait for a timeout each, and other stores for all of them. Another set may pull
// between two questions of one look, which has one `now`.
TEST(StoreConnection, LeavesAStoreAloneFromTheEndOfALongLook) {
  const RedisServer redis;
  StoreConnection connection(store_opener(redis.unix_url()), "redis", kShortestWait);
  EXPECT_FALSE(connection.use(kFirstTry, has_seed));
  const auto begun = std::chrono::steady_clock::now();
  const RedisServer other;  // takes much longer to start than the second question
  const auto took = std::chrono::steady_clock::now() - begun;
  EXPECT_EQ(failure_of([&] { connection.use(kFirstTry, lose); }), ErrorKind::Unavailable);
  const auto pause = std::min<SteadyTime::duration>(10 * took, std::chrono::seconds(10));
  EXPECT_EQ(failure_of([&] { connection.use(kFirstTry + took + pause, has_seed); }), ErrorKind::Unavailable);
}

TEST(StoreConnection, ReadsAStoreThatDoesNotTakeWhatIsWritten) {
  const RedisServer redis;
  StoreConnection connection(store_opener(redis.unix_url()), "redis", kPollInterval);
  EXPECT_FALSE(connection.use(kFirstTry, has_seed));
  EXPECT_TRUE(connection.begin_watch(kFirstTry));
  EXPECT_EQ(failure_of([&] { connection.use(kFirstTry, lose, StoreUse::Append); }), ErrorKind::Unavailable);
  EXPECT_FALSE(connection.is_away());
  EXPECT_NE(connection.watch(), nullptr);
  EXPECT_FALSE(connection.use(kFirstTry, has_seed));

  const SteadyTime soon = kFirstTry + Milliseconds(400);
  EXPECT_EQ(failure_of([&] { connection.use(soon, has_seed, StoreUse::Append); }), ErrorKind::Unavailable);
  EXPECT_FALSE(connection.use(soon, has_seed));
  EXPECT_FALSE(connection.use(kFirstTry + std::chrono::minutes(5), has_seed, StoreUse::Append));
}

// However long its failover may last.
void expect_to_fail_at_once(const std::string& url, RedisServer& lost) {
  StoreConnection connection(store_opener(url), "redis", kEachSecond);
  EXPECT_FALSE(connection.use(kFirstTry, has_seed));
  lost.kill();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(failure_of([&] { connection.use(kFirstTry, has_seed); }), ErrorKind::Unavailable)
      << "when it was open";
  connection.try_again_now();
  EXPECT_EQ(failure_of([&] { connection.use(kFirstTry, has_seed); }), ErrorKind::Unavailable)
      << "when it is opened";
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kDeadline);
}

TEST(StoreConnection, WaitsForNoFailoverOfSentinel) {
  RedisSentinels servers(0, 1);
  expect_to_fail_at_once(servers.url() + "?timeout=2m&failover=1h", servers.master());
}

TEST(StoreConnection, WaitsForNoFailoverOfACluster) {
  RedisCluster cluster;
  expect_to_fail_at_once(cluster.url() + "?timeout=2m&failover=1h",
                         cluster.master_of(slot_of("keysieve:seed")));
}

TEST(StoreConnection, FindsAStoreThatWasReplacedBetweenRounds) {
  TemporaryDirectory directory;
  const std::string url = "lmdb:" + directory / "lmdb";
  open_store(url);  // makes it
  StoreConnection connection(store_opener(url), "lmdb", kEachSecond);
  EXPECT_FALSE(connection.use(kFirstTry, has_seed));
  connection.close();
  std::filesystem::remove_all(directory / "lmdb");
  EXPECT_EQ(failure_of([&] { connection.use(kFirstTry, has_seed); }), ErrorKind::Unavailable);
  EXPECT_FALSE(std::filesystem::exists(directory / "lmdb")) << "an empty one in its place would look well";
  {
    const auto store = open_store(url);
    EXPECT_TRUE(store->put_if_absent({store->prefix() + ":seed", "1"}));
  }
  connection.try_again_now();
  EXPECT_TRUE(connection.use(kFirstTry, has_seed));
}

using std::chrono::seconds;

void fail(Retries& retries) {
  retries.begin_look(kFirstTry);
  retries.failed();
  retries.end_look(kFirstTry, false);
}

// How long it takes from then until the next try is due.
seconds wait_of(Retries& retries) {
  for (seconds wait{0};; ++wait) {
    retries.begin_look(kFirstTry + wait);
    if (retries.is_due()) return wait;
  }
}

TEST(Schedule, KeepsJitterWithinItsShare) {
  std::mt19937_64 random(1);
  Milliseconds shortest{10000};
  Milliseconds longest{0};
  for (int i = 0; i < 10000; ++i) {
    const Milliseconds wait = with_jitter(Milliseconds(5000), random);
    shortest = std::min(shortest, wait);
    longest = std::max(longest, wait);
  }
  EXPECT_GE(shortest, Milliseconds(4249));
  EXPECT_LE(longest, Milliseconds(5750));
  EXPECT_LT(shortest, Milliseconds(4300));
  EXPECT_GT(longest, Milliseconds(5700));
}

TEST(Schedule, NeverWaitsForNothing) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100; ++i) EXPECT_GE(with_jitter(Milliseconds(1), random), Milliseconds(1));
}

TEST(Schedule, MovesBothClocksOnByWhatTheBootClockSays) {
  const BootSeconds now = boot_now();
  const auto [unix, boot] = moved_on({.unix = 1'000, .boot = 50}, now - 7);
  EXPECT_GE(boot, 57);
  EXPECT_LE(boot, 57 + boot_now() - now);
  EXPECT_EQ(unix - 1'000, boot - 50);
}

TEST(Retries, AreDueBeforeAnythingFailed) {
  Retries retries{seconds(10)};
  EXPECT_EQ(wait_of(retries), seconds(0));
}

TEST(Retries, WaitTwiceAsLongEachTimeUpToFiveMinutes) {
  Retries retries{seconds(10)};
  for (const double expected : {10.0, 20.0, 40.0, 80.0, 160.0, 300.0, 300.0}) {
    fail(retries);
    const auto wait = static_cast<double>(wait_of(retries).count());
    EXPECT_GE(wait, expected * (1 - kJitter));
    EXPECT_LE(wait, expected * (1 + kJitter) + 1);
  }
}

TEST(Retries, StartOverWhenAllIsWell) {
  Retries retries{seconds(10)};
  for (int i = 0; i < 5; ++i) fail(retries);
  retries.begin_look(kFirstTry);
  retries.end_look(kFirstTry, true);
  EXPECT_EQ(wait_of(retries), seconds(0));
  fail(retries);
  EXPECT_LE(wait_of(retries), seconds(12));
}

TEST(Retries, NeverWaitShorterThanALongPollInterval) {
  Retries retries{std::chrono::hours(1)};
  for (int i = 0; i < 3; ++i) {
    fail(retries);
    EXPECT_GE(wait_of(retries), std::chrono::minutes(50));
  }
}

class WatchOfAConnection : public ::testing::Test {
 protected:
  WatchOfAConnection() { open_store(url_); }  // makes it

  void append() const {
    const std::string key = "key";
    open_store(url_)->append("keysieve:tags:adds", std::span(&key, 1));
  }
  [[nodiscard]] bool is_readable() const {
    pollfd waiting{connection_.watch()->descriptor(), POLLIN, 0};
    return ::poll(&waiting, 1, 0) > 0;
  }

  TemporaryDirectory directory_;
  std::string url_ = "dir:" + directory_ / "store";
  StoreConnection connection_{store_opener(url_), url_, kPollInterval};
};

TEST_F(WatchOfAConnection, IsBegunOnceAndHearsOfEachChange) {
  EXPECT_EQ(connection_.watch(), nullptr);
  EXPECT_TRUE(connection_.take_changes().empty());
  EXPECT_TRUE(connection_.begin_watch(kFirstTry));
  EXPECT_FALSE(connection_.begin_watch(kFirstTry)) << "there is one";
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(is_readable());
    EXPECT_TRUE(connection_.take_changes().empty());
    append();
    EXPECT_TRUE(is_readable());
    EXPECT_EQ(connection_.take_changes().size(), 1U);
  }
}

TEST_F(WatchOfAConnection, IsGoneWhenItHasFailedUntilItIsBegunAgain) {
  connection_.begin_watch(kFirstTry);
  std::filesystem::remove_all(directory_ / "store");
  EXPECT_TRUE(is_readable());
  EXPECT_TRUE(connection_.take_changes().empty());
  EXPECT_EQ(connection_.watch(), nullptr);
  EXPECT_FALSE(connection_.begin_watch(kFirstTry)) << "the folder is gone";
  EXPECT_NE(connection_.watch_due_at(), SteadyTime::max());
  open_store(url_);
  EXPECT_TRUE(connection_.begin_watch(kFirstTry));
}

// It may be dead without notice.
TEST_F(WatchOfAConnection, IsGoneWhenItsStoreHasFailedUntilThatIsNotLeftAloneAnyMore) {
  connection_.begin_watch(kFirstTry);
  EXPECT_EQ(failure_of([&] { connection_.use(kFirstTry, lose); }), ErrorKind::Unavailable);
  EXPECT_EQ(connection_.watch(), nullptr);
  EXPECT_FALSE(connection_.begin_watch(kFirstTry + Milliseconds(100)));
  EXPECT_TRUE(connection_.begin_watch(kFirstTry + std::chrono::minutes(5)));
}

// A store of the network that is polled alone.
class UnwatchableStore : public StoreDecorator {
 public:
  explicit UnwatchableStore(std::unique_ptr<Store> real) : StoreDecorator(*real), real_(std::move(real)) {}
  std::unique_ptr<StoreWatch> watch() override { return nullptr; }

 private:
  std::unique_ptr<Store> real_;
};

TEST_F(WatchOfAConnection, IsNoneOfAStoreThatCannotTell) {
  StoreConnection connection([this] { return std::make_unique<UnwatchableStore>(open_store(url_)); }, url_,
                             kPollInterval);
  EXPECT_FALSE(connection.begin_watch(kFirstTry));
  EXPECT_EQ(connection.watch(), nullptr);
  EXPECT_EQ(connection.watch_due_at(), SteadyTime::max());
  EXPECT_TRUE(connection.take_changes().empty());
}

}  // namespace
}  // namespace keysieve::test
