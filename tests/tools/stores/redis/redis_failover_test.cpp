// What happens to a store when a server of a cluster is lost.
#include <signal.h>

#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/store_calls.hpp"
#include "tools/stores/redis/redis_servers.hpp"
#include "tools/stores/redis/redis_slots.hpp"
#include "tools/stores/store.hpp"

namespace keysieve::test {
namespace {

class RedisFailover : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Store> open(const std::string& query) const {
    return open_store(cluster_.url() + query);
  }

  static std::vector<std::string> all_keys() { return numbered("key", 100); }
  static std::vector<Record> records_with(const std::string& value) { return records_of(all_keys(), value); }

  // Its replica takes over once a client misses the master.
  void lose(RedisServer& master) {
    cluster_.replace_when_missed(master);
    master.kill();
  }

  const std::unique_ptr<RedisCluster> own_ = RedisCluster::take();
  RedisCluster& cluster_ = *own_;
};

TEST_F(RedisFailover, IsWaitedFor) {
  const auto store = open("?wait_replicas=1&timeout=2m&failover=2m");
  store->put_many(records_with("before"));
  const auto writer = open("?timeout=2m&failover=2m");
  lose(cluster_.node(0));
  EXPECT_THAT(store->get_many(all_keys()), Each(Optional(std::string("before"))));
  writer->put_many(records_with("after"));
  EXPECT_THAT(store->get_many(all_keys()), Each(Optional(std::string("after"))));
  EXPECT_EQ(store->keys_with_prefix("key").size(), 100U);
  EXPECT_GT(append(*writer, {"foo"}), LogPosition{});
}

TEST_F(RedisFailover, IsNoticedWhenAMasterHangs) {
  open("?wait_replicas=1&timeout=2m")->put_many(records_with("before"));
  const auto store = open("?timeout=500ms&failover=2m");
  cluster_.replace_when_missed(cluster_.node(1));
  ::kill(cluster_.node(1).pid(), SIGSTOP);
  EXPECT_THAT(store->get_many(all_keys()), Each(Optional(std::string("before"))));
  ::kill(cluster_.node(1).pid(), SIGCONT);
}

TEST_F(RedisFailover, LeavesTooFewReplicas) {
  open("?wait_replicas=1&timeout=2m")->put_many(records_with("before"));
  const auto store = open("?wait_replicas=1&timeout=4m&failover=2m");
  {
    const WaitsCutShort in_vain(cluster_.replica_of(cluster_.node(2)));
    lose(cluster_.node(2));
    EXPECT_EQ(failure_of([&] { store->put_many(records_with("after")); }), ErrorKind::Unavailable);
  }
  cluster_.node(2).start();
  when_available([&] {
    store->put_many(records_with("after"));  // what comes back becomes a replica
    return true;
  });
}

TEST_F(RedisFailover, NeedsNoReplicaOnceAMasterHasNone) {
  cluster_.wait_until_replicas_are_named();
  cluster_.node(3).kill();
  cluster_.notice_losses_soon();
  {
    const WaitsCutShort in_vain(cluster_.node(0));
    when_available([&] {
      open("?timeout=2m")->put_many(records_with("a"));  // once the cluster knows that the replica is lost
      return true;
    });
  }
  const auto store = open("?timeout=2m");
  const int waits_before = calls_of(cluster_.node(0), "wait");
  store->put_many(records_with("b"));
  EXPECT_EQ(calls_of(cluster_.node(0), "wait"), waits_before);
}

TEST_F(RedisFailover, IsGivenUpWhenAMasterIsLostWithItsReplica) {
  open("?timeout=2m")->put_many(records_with("before"));
  const auto store = open("?failover=500ms&timeout=2m");
  cluster_.node(0).kill();
  cluster_.node(3).kill();
  cluster_.notice_losses_soon();
  EXPECT_EQ(failure_of([&] { store->get_many(all_keys()); }), ErrorKind::Unavailable);
  // A cluster that lacks slots serves none; foo belongs to another master.
  EXPECT_TRUE(eventually([&] {
    return message_of<ErrorKind::Unavailable>([&] {
             store->get("foo");
           }).find("CLUSTERDOWN The cluster is down") != std::string::npos;
  }));
}

// ?wait_replicas=: a write is done when replicas have it.

class RedisReplicas : public ::testing::Test {
 protected:
  RedisReplicas() { master_.flush_with_replicas(); }

  [[nodiscard]] std::unique_ptr<Store> open(const std::string& query) const {
    return open_store(master_.tcp_url() + query);
  }

  // Tries every kind of write; nothing for one that succeeds.
  static std::vector<std::optional<ErrorKind>> failures_of_writes(Store& store) {
    const std::vector<Record> records(200, {"a", "1"});
    const Record absent{"absent", "1"};
    const Record next{"a", "2"};
    const std::vector<std::string> keys(200, "a");
    return {failure_of([&] { store.put_many(records); }), failure_of([&] { store.put_if_absent(absent); }),
            failure_of([&] { store.compare_and_set(next, "1"); }),
            failure_of([&] { store.append("log", keys); }), failure_of([&] { store.remove_many(keys); })};
  }

  const RedisServer master_{{"--hz", "100"}};
  RedisServer replica_{following(master_)};
};

TEST_F(RedisReplicas, HaveWhatWasWritten) {
  const auto store = open("?wait_replicas=1&timeout=2m");
  for (int i = 0; i < 100; ++i) {
    put(*store, "a", std::string(static_cast<std::size_t>(i), 'x'));
    ASSERT_EQ(replica_.command("STRLEN a"), ":" + std::to_string(i));
  }
  EXPECT_THAT(failures_of_writes(*store), Each(std::nullopt));
}

TEST_F(RedisReplicas, AreMissedWhenTheyHang) {
  ::kill(replica_.pid(), SIGSTOP);
  const WaitsCutShort in_vain(master_);
  const auto store = open("?wait_replicas=1&timeout=2m");
  EXPECT_THAT(failures_of_writes(*store), Each(Optional(ErrorKind::Unavailable)));
  EXPECT_EQ(store->get("nothing"), std::nullopt) << "to read, none is needed";
  ::kill(replica_.pid(), SIGCONT);
}

TEST_F(RedisReplicas, AreWaitedForHalfOfTheTimeout) {
  using std::chrono_literals::operator""ms;
  EXPECT_THAT(wait_command(2, 10'000ms), ElementsAre("WAIT", "2", "5000"));
  EXPECT_THAT(wait_command(2, 1ms), ElementsAre("WAIT", "2", "1")) << "0 would wait for ever";
}

TEST_F(RedisReplicas, AreNotWaitedForUnlessAskedFor) {
  replica_.kill();
  EXPECT_THAT(failures_of_writes(*open("?timeout=2m")), Each(std::nullopt));
}

// The store behind sentinels, which name the master.

// A sentinel that knows only a master.
class RedisSentinel : public ::testing::Test {
 protected:
  RedisSentinel() { master_.command("FLUSHALL"); }

  RedisServer& master_ = shared_redis_sentinels().master();
  RedisServer& sentinel_ = shared_redis_sentinels().sentinel();
  const std::string url_ = shared_redis_sentinels().url();
};

TEST_F(RedisSentinel, NamesTheMasterWhoseReplicasAreNotWaitedForIfItHasNone) {
  const auto store = open_store(url_ + "/2");
  const int waits_before = calls_of(master_, "wait");
  put(*store, "a", "1");
  EXPECT_EQ(calls_of(master_, "wait"), waits_before);
  EXPECT_EQ(store->name(), url_ + "/2");
  EXPECT_EQ(open_store(master_.tcp_url() + "/2")->get("a"), "1");
}

TEST_F(RedisSentinel, IsOneOfSeveral) {
  put(*open_store("redis-sentinel://127.0.0.1:1," + sentinel_.address() + "/mymaster"), "a", "1");
  EXPECT_EQ(master_.command("STRLEN a"), ":1");
  for (const std::string& nobody : {std::string("redis-sentinel://127.0.0.1:2,127.0.0.1:1/mymaster"),
                                    "redis-sentinel://" + sentinel_.address() + "/other"})
    EXPECT_EQ(failure_of([&] { open_store(nobody); }), ErrorKind::Unavailable) << nobody;
}

TEST_F(RedisSentinel, IsNotTrustedWhenItNamesAReplica) {
  const RedisServer replica(following(master_));
  const auto mistaken = start_sentinel(replica, 1);
  const std::string wrong = "redis-sentinel://" + mistaken->address() + "/mymaster?failover=100ms";
  EXPECT_EQ(failure_of([&] { open_store(wrong); }), ErrorKind::Unavailable);
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
  servers_.lose_master();
  EXPECT_EQ(open()->get("a"), "1") << "by one who comes now";
  EXPECT_EQ(store->get("a"), "1");
  put(*writer, "a", "2");
  EXPECT_EQ(writer->keys_with_prefix("a").size(), 1U);
  EXPECT_EQ(open()->get("a"), "2");
  EXPECT_EQ(failure_of([&] { watch->take(); }), ErrorKind::Unavailable);
  const auto next_watch = store->watch();
  put(*writer, "a", "3");
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
  EXPECT_EQ(failure_of([&] { store->get("a"); }), ErrorKind::Unavailable);
}

TEST(RedisSentinelPassword, IsThatOfTheMasterWhenASentinelAsksForOne) {
  const RedisServer master({"--requirepass", "s3cret"});
  const auto open_sentinel = start_sentinel(master, 1);
  const auto closed_sentinel = start_sentinel(master, 1, {"--requirepass", "s3cret"});
  for (const auto* sentinel : {open_sentinel.get(), closed_sentinel.get()}) {
    EXPECT_EQ(open_store("redis-sentinel://:s3cret@" + sentinel->address() + "/mymaster")->get("a"),
              std::nullopt);
  }
  EXPECT_NE(refusal_to_open<ErrorKind::Login>("redis-sentinel://" + closed_sentinel->address() + "/mymaster"),
            "");
  EXPECT_NE(
      refusal_to_open<ErrorKind::Login>("redis-sentinel://:wr0ng@" + open_sentinel->address() + "/mymaster"),
      "");
}

}  // namespace
}  // namespace keysieve::test
