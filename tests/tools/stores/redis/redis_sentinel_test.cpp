// The store behind sentinels, which name the master.

#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/redis_sentinels.hpp"
#include "tests/support/store_calls.hpp"
#include "tools/stores/store.hpp"

namespace keysieve::test {
namespace {

// A sentinel that knows only a master.
class RedisSentinel : public ::testing::Test {
 protected:
  RedisSentinel() { master_.command("FLUSHALL"); }

  RedisServer& master_ = shared_redis_sentinels().master();
  RedisServer& sentinel_ = shared_redis_sentinels().sentinel();
  const std::string url_ = shared_redis_sentinels().url();
};

TEST_F(RedisSentinel, NamesTheMaster) {
  const auto store = open_store(url_ + "/2");
  put(*store, "a", "1");
  EXPECT_EQ(store->name(), url_ + "/2");
  EXPECT_EQ(open_store(master_.tcp_url() + "/2")->get("a"), "1");
}

TEST_F(RedisSentinel, DoesNotWaitForReplicasOfAMasterThatHasNone) {
  const int waits_before = calls_of(master_, "wait");
  put(*open_store(url_), "a", "1");
  EXPECT_EQ(calls_of(master_, "wait"), waits_before);
}

TEST_F(RedisSentinel, IsOneOfSeveral) {
  put(*open_store("redis-sentinel://127.0.0.1:1," + sentinel_.address() + "/mymaster"), "a", "1");
  EXPECT_EQ(master_.command("STRLEN a"), ":1");
  EXPECT_EQ(refusal_to_open<ErrorKind::Unavailable>("redis-sentinel://127.0.0.1:2,127.0.0.1:1/mymaster"),
            "redis-sentinel://127.0.0.1:2,127.0.0.1:1/mymaster: 127.0.0.1:1: cannot connect: "
            "Connection refused");
}

TEST_F(RedisSentinel, KnowsNoOtherName) {
  const std::string other = "redis-sentinel://" + sentinel_.address() + "/other";
  EXPECT_EQ(refusal_to_open<ErrorKind::Unavailable>(other),
            other + ": no sentinel knows a master of that name");
}

TEST_F(RedisSentinel, IsNotTrustedWhenItNamesAReplica) {
  const RedisServer replica(following(master_));
  const auto mistaken = start_sentinel(replica, 1);
  const std::string wrong = "redis-sentinel://" + mistaken->address() + "/mymaster";
  EXPECT_EQ(refusal_to_open<ErrorKind::Unavailable>(wrong + "?failover=100ms"),
            wrong + ": " + replica.address() + ": is not a master (tried for 100 ms)");
}

TEST_F(RedisSentinel, IsAskedAgainWhenTheMasterHasBecomeAReplica) {
  const RedisServer before;
  const RedisServer after;
  const auto sentinel = start_sentinel(before, 1);
  const auto store = open_store("redis-sentinel://" + sentinel->address() + "/mymaster");
  put(*store, "a", "1");
  before.command("REPLICAOF 127.0.0.1 " + std::to_string(after.port()));
  EXPECT_EQ(sentinel->command("SENTINEL REMOVE mymaster"), "+OK");
  EXPECT_EQ(sentinel->command("SENTINEL MONITOR mymaster 127.0.0.1 " + std::to_string(after.port()) + " 1"),
            "+OK");
  put(*store, "a", "12");  // READONLY at first
  EXPECT_EQ(after.command("STRLEN a"), ":2");
}

// Three sentinels, a master and its replica.
class RedisSentinelFailover : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Store> open(const std::string& query = "") const {
    return open_store(servers_.url() + "?timeout=2m&failover=2m" + query);
  }

  RedisSentinels servers_{1};
};

TEST_F(RedisSentinelFailover, IsWaitedFor) {
  put(*open("&wait_replicas=1"), "a", "1");
  const auto store = open();
  const auto writer = open();
  const auto watch = store->watch();
  arm(*watch, {{"log", {}}});
  servers_.lose_master();
  EXPECT_EQ(open()->get("a"), "1") << "by one who comes now";
  EXPECT_EQ(store->get("a"), "1");
  put(*writer, "a", "2");
  EXPECT_EQ(writer->keys_with_prefix("a").size(), 1U);
  EXPECT_EQ(open()->get("a"), "2");
  EXPECT_EQ(failure_of([&] { watch->take(); }), ErrorKind::Unavailable);
  const auto next_watch = store->watch();
  arm(*next_watch, {{"log", {}}});
  writer->notify("log");
  EXPECT_THAT(wait(*next_watch), Not(IsEmpty()));
}

TEST_F(RedisSentinelFailover, LosesNothingThatAReplicaHasByDefault) {
  put(*open(), "a", "1");
  EXPECT_GT(calls_of(servers_.master(), "wait"), 0);
  EXPECT_EQ(servers_.replica().command("STRLEN a"), ":1");
  const int waits = calls_of(servers_.master(), "wait");
  put(*open("&wait_replicas=0"), "b", "1");
  EXPECT_EQ(calls_of(servers_.master(), "wait"), waits);
}

TEST_F(RedisSentinelFailover, IsGivenUpWhenNoReplicaIsLeft) {
  const auto store = open_store(servers_.url() + "?failover=500ms");
  servers_.replica().kill();
  servers_.master().kill();
  EXPECT_THAT(message_of<ErrorKind::Unavailable>([&] { store->get("a"); }),
              HasSubstr("Connection refused (tried for 500 ms)"));
}

TEST(RedisSentinelPassword, IsThatOfTheMasterWhenASentinelAsksForOne) {
  const RedisServer master({"--requirepass", "s3cret"});
  const auto open_sentinel = start_sentinel(master, 1);
  const auto closed_sentinel = start_sentinel(master, 1, {"--requirepass", "s3cret"});
  for (const auto* sentinel : {open_sentinel.get(), closed_sentinel.get()}) {
    EXPECT_EQ(open_store("redis-sentinel://:s3cret@" + sentinel->address() + "/mymaster")->get("a"),
              std::nullopt);
  }
  EXPECT_THAT(
      refusal_to_open<ErrorKind::Login>("redis-sentinel://" + closed_sentinel->address() + "/mymaster"),
      HasSubstr("NOAUTH"));
  EXPECT_THAT(
      refusal_to_open<ErrorKind::Login>("redis-sentinel://:wr0ng@" + open_sentinel->address() + "/mymaster"),
      HasSubstr(master.address() + ": the server refuses user or password (WRONGPASS)"));
}

}  // namespace
}  // namespace keysieve::test
