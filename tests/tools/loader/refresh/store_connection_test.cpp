#include "tools/loader/refresh/store_connection.hpp"

#include <gtest/gtest.h>

#include "tests/support/forked.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/store_decorator.hpp"
#include "tools/stores/redis/redis_slots.hpp"

namespace keysieve::test {
namespace {

constexpr Milliseconds kPollInterval{1000};
constexpr Milliseconds kShortestWait{1};  // without jitter
constexpr SteadyTime kFirstTry{std::chrono::hours(1)};

bool has_seed(Store& store) {
  return store.get(store.prefix() + ":seed").has_value();
}

TEST(StoreConnection, LeavesAFailedStoreAloneUntilTheBackoffHasPassed) {
  RedisServer redis;
  StoreConnection connection(store_opener(redis.unix_url()), "redis", kPollInterval);
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
  EXPECT_EQ(message_of<ErrorKind::Unavailable>([&] { connection.use(kFirstTry + Milliseconds(800), count); }),
            failure);
  EXPECT_EQ(asked, 0);
  EXPECT_FALSE(connection.use(kFirstTry + std::chrono::minutes(2), count));
  EXPECT_EQ(asked, 1);
}

// Thousands of sets would wait for a timeout each. Another set may pull between two questions of one look,
// which has one `now`.
TEST(StoreConnection, LeavesAStoreAloneFromTheEndOfALongLook) {
  const RedisServer redis;
  StoreConnection connection(store_opener(redis.unix_url()), "redis", kShortestWait);
  EXPECT_FALSE(connection.use(kFirstTry, has_seed));
  const auto begun = std::chrono::steady_clock::now();
  const RedisServer other;  // takes much longer to start than the second question
  const auto took = std::chrono::steady_clock::now() - begun;
  EXPECT_EQ(failure_of([&] { connection.use(kFirstTry, [](Store&) -> bool { lose_connection(); }); }),
            ErrorKind::Unavailable);
  EXPECT_EQ(failure_of([&] { connection.use(kFirstTry + took + kShortestWait, has_seed); }),
            ErrorKind::Unavailable);
}

TEST(StoreConnection, AsksAtOnceWhenToldTo) {
  RedisServer redis;
  StoreConnection connection(store_opener(redis.unix_url()), "redis", kPollInterval);
  redis.kill();
  EXPECT_EQ(failure_of([&] { connection.use(kFirstTry, has_seed); }), ErrorKind::Unavailable);
  redis.start();
  EXPECT_EQ(failure_of([&] { connection.use(kFirstTry, has_seed); }), ErrorKind::Unavailable);
  connection.try_again_now();
  EXPECT_FALSE(connection.use(kFirstTry, has_seed));
}

// However long its failover may last.
void expect_to_fail_at_once(const std::string& url, RedisServer& lost) {
  StoreConnection connection(store_opener(url), "redis", kPollInterval);
  EXPECT_FALSE(connection.use(kFirstTry, has_seed));
  const auto watch = store_opener(url)()->watch();
  const WatchedLog log{"keysieve:seed", {}};  // of the same slot
  lost.kill();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(failure_of([&] { connection.use(kFirstTry, has_seed); }), ErrorKind::Unavailable)
      << "when it was open";
  connection.try_again_now();
  EXPECT_EQ(failure_of([&] { connection.use(kFirstTry, has_seed); }), ErrorKind::Unavailable)
      << "when it is opened";
  EXPECT_EQ(failure_of([&] { watch->arm(std::span(&log, 1)); }), ErrorKind::Unavailable);
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
  StoreConnection connection(store_opener(url), "lmdb", kPollInterval);
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

}  // namespace
}  // namespace keysieve::test
