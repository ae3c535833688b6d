// What happens to a store when a server of a cluster is lost.
#include <signal.h>

#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/redis_cluster.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/store_calls.hpp"
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
    EXPECT_THAT(message_of<ErrorKind::Unavailable>([&] { store->put_many(records_with("after")); }),
                HasSubstr("only 0 of 1 replicas have it"));
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

TEST_F(RedisFailover, SaysHowToWriteWithoutReplicas) {
  cluster_.wait_until_replicas_are_named();
  const WaitsCutShort in_vain(cluster_.node(0));
  const auto store = open("?timeout=2m");
  ::kill(cluster_.node(3).pid(), SIGSTOP);
  EXPECT_THAT(message_of<ErrorKind::Unavailable>([&] { store->put_many(records_with("a")); }),
              HasSubstr("only 0 of 1 replicas have it after 60000 ms (with ?wait_replicas=0 none needs to)"));
  ::kill(cluster_.node(3).pid(), SIGCONT);
}

TEST_F(RedisFailover, IsGivenUpWhenAMasterIsLostWithItsReplica) {
  open("?timeout=2m")->put_many(records_with("before"));
  const auto store = open("?failover=500ms&timeout=2m");
  cluster_.node(0).kill();
  cluster_.node(3).kill();
  cluster_.notice_losses_soon();
  EXPECT_THAT(
      message_of<ErrorKind::Unavailable>([&] { store->get_many(all_keys()); }),
      AllOf(HasSubstr(cluster_.url() + ": "), HasSubstr("(tried for 500 ms)"),
            AnyOf(HasSubstr("Connection refused"), HasSubstr("CLUSTERDOWN"), HasSubstr("has no master"))));
  // A cluster that lacks slots serves none; foo belongs to another master.
  EXPECT_TRUE(eventually([&] {
    return message_of<ErrorKind::Unavailable>([&] {
             store->get("foo");
           }).find("CLUSTERDOWN The cluster is down") != std::string::npos;
  }));
}

}  // namespace
}  // namespace keysieve::test
