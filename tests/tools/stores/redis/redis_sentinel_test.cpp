// The store behind sentinels, which say who is the master.
#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/redis_sentinels.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

using test::address_of;

void put(Store& store, const Record& record) {
  store.put_many(std::span(&record, 1));
}

// One that knows a master alone.
class RedisSentinel : public ::testing::Test {
 protected:
  RedisSentinel() { master_.command("FLUSHALL"); }

  test::RedisServer& master_ = test::shared_redis_sentinels().master();
  test::RedisServer& sentinel_ = test::shared_redis_sentinels().sentinel();
  const std::string url_ = test::shared_redis_sentinels().url();
};

TEST_F(RedisSentinel, NamesTheMaster) {
  const auto store = open_store(url_ + "/2");
  put(*store, {"a", "1"});
  EXPECT_EQ(store->name(), url_ + "/2");
  EXPECT_THAT(open_store(master_.tcp_url() + "/2")->get("a"), Optional(std::string("1")));
}

TEST_F(RedisSentinel, DoesNotWaitForReplicasOfAMasterThatHasNone) {
  const int waits_before = test::calls_of(master_, "wait");
  put(*open_store(url_), {"a", "1"});
  EXPECT_EQ(test::calls_of(master_, "wait"), waits_before);
}

TEST_F(RedisSentinel, IsOneOfSeveral) {
  put(*open_store("redis-sentinel://127.0.0.1:1," + address_of(sentinel_) + "/mymaster"), {"a", "1"});
  EXPECT_EQ(master_.command("STRLEN a"), ":1");
  EXPECT_EQ(test::message_of<ErrorKind::Unavailable>(
                [] { open_store("redis-sentinel://127.0.0.1:2,127.0.0.1:1/mymaster"); }),
            "redis-sentinel://127.0.0.1:2,127.0.0.1:1/mymaster: 127.0.0.1:1: cannot connect: "
            "Connection refused");
}

TEST_F(RedisSentinel, KnowsNoOtherName) {
  const std::string other = "redis-sentinel://" + address_of(sentinel_) + "/other";
  EXPECT_EQ(test::message_of<ErrorKind::Unavailable>([&] { open_store(other); }),
            other + ": no sentinel knows a master of that name");
}

TEST_F(RedisSentinel, IsNotBelievedWhereItNamesAReplica) {
  const test::RedisServer replica({"--replicaof", "127.0.0.1", std::to_string(master_.port())});
  const auto mistaken = test::start_sentinel(replica, 1);
  const std::string wrong = "redis-sentinel://" + address_of(*mistaken) + "/mymaster";
  EXPECT_EQ(test::message_of<ErrorKind::Unavailable>([&] { open_store(wrong + "?failover=100ms"); }),
            wrong + ": " + address_of(replica) + ": is no master (tried for 100 ms)");
}

TEST_F(RedisSentinel, IsAskedAgainWhereTheMasterHasBecomeAReplica) {
  const test::RedisServer before;
  const test::RedisServer after;
  const auto sentinel = test::start_sentinel(before, 1);
  const auto store = open_store("redis-sentinel://" + address_of(*sentinel) + "/mymaster");
  put(*store, {"a", "1"});
  before.command("REPLICAOF 127.0.0.1 " + std::to_string(after.port()));
  EXPECT_EQ(sentinel->command("SENTINEL REMOVE mymaster"), "+OK");
  EXPECT_EQ(sentinel->command("SENTINEL MONITOR mymaster 127.0.0.1 " + std::to_string(after.port()) + " 1"),
            "+OK");
  put(*store, {"a", "12"});  // READONLY at first
  EXPECT_EQ(after.command("STRLEN a"), ":2");
}

// Three sentinels, a master and its replica.
class RedisSentinelFailover : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Store> open(const std::string& query = "") const {
    return open_store(servers_.url() + "?timeout=2m&failover=2m" + query);
  }

  test::RedisSentinels servers_{1};
};

TEST_F(RedisSentinelFailover, IsWaitedFor) {
  put(*open("&wait_replicas=1"), {"a", "1"});
  const auto store = open();
  const auto writer = open();
  const auto watch = store->watch();
  const WatchedLog log{"log", {}};
  watch->arm(std::span(&log, 1));
  servers_.lose_master();
  EXPECT_THAT(open()->get("a"), Optional(std::string("1"))) << "by one who comes now";
  EXPECT_THAT(store->get("a"), Optional(std::string("1")));
  put(*writer, {"a", "2"});
  EXPECT_EQ(writer->keys_with_prefix("a").size(), 1U);
  EXPECT_THAT(open()->get("a"), Optional(std::string("2")));
  EXPECT_THAT([&] { watch->take(); }, test::fails(ErrorKind::Unavailable));
  const auto next_watch = store->watch();
  next_watch->arm(std::span(&log, 1));
  writer->notify("log");
  EXPECT_TRUE(test::eventually([&] { return !next_watch->take().empty(); }));
}

TEST_F(RedisSentinelFailover, LosesNothingThatAReplicaHasByDefault) {
  put(*open(), {"a", "1"});
  EXPECT_GT(test::calls_of(servers_.master(), "wait"), 0);
  EXPECT_EQ(servers_.replica().command("STRLEN a"), ":1");
  const int waits = test::calls_of(servers_.master(), "wait");
  put(*open("&wait_replicas=0"), {"b", "1"});
  EXPECT_EQ(test::calls_of(servers_.master(), "wait"), waits);
}

TEST_F(RedisSentinelFailover, IsGivenUpWhenNoReplicaIsLeft) {
  const auto store = open_store(servers_.url() + "?failover=500ms");
  servers_.replica().kill();
  servers_.master().kill();
  EXPECT_THAT(test::message_of<ErrorKind::Unavailable>([&] { store->get("a"); }),
              HasSubstr("Connection refused (tried for 500 ms)"));
}

TEST(RedisSentinelPassword, IsThatOfTheMasterWhereASentinelAsksForOne) {
  const test::RedisServer master({"--requirepass", "s3cret"});
  const auto open_sentinel = test::start_sentinel(master, 1);
  const auto closed_sentinel = test::start_sentinel(master, 1, {"--requirepass", "s3cret"});
  for (const auto* sentinel : {open_sentinel.get(), closed_sentinel.get()}) {
    EXPECT_EQ(open_store("redis-sentinel://:s3cret@" + address_of(*sentinel) + "/mymaster")->get("a"),
              std::nullopt);
  }
  EXPECT_THAT(test::message_of<ErrorKind::Login>(
                  [&] { open_store("redis-sentinel://" + address_of(*closed_sentinel) + "/mymaster"); }),
              HasSubstr("NOAUTH"));
  EXPECT_THAT(test::message_of<ErrorKind::Login>(
                  [&] { open_store("redis-sentinel://:wr0ng@" + address_of(*open_sentinel) + "/mymaster"); }),
              HasSubstr(address_of(master) + ": the server refuses user or password (WRONGPASS)"));
}

}  // namespace
}  // namespace keysieve
