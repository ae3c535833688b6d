// What becomes of a store when a server of a cluster is lost.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>

#include "core/base/error.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/redis_cluster.hpp"
#include "tools/stores/redis_slots.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Optional;

using std::chrono::seconds;

class RedisFailover : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Store> open(const std::string& query) const {
    return open_store(cluster_.url() + query);
  }

  template <typename Work>
  static std::chrono::duration<double> time_of(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::steady_clock::now() - begin;
  }

  static std::vector<Record> records_with(const std::string& value) {
    std::vector<Record> records;
    for (int i = 0; i < 100; ++i) records.push_back({"key" + std::to_string(i), value});
    return records;
  }
  static std::vector<std::string> all_keys() {
    std::vector<std::string> keys;
    for (const Record& record : records_with("")) keys.push_back(record.key);
    return keys;
  }

  test::RedisCluster cluster_;
};

TEST_F(RedisFailover, IsWaitedFor) {
  const auto store = open("?wait_replicas=1&timeout=60s&failover=2m");
  store->put_many(records_with("before"));
  const auto writer = open("?failover=2m");
  cluster_.node(0).kill();
  EXPECT_THAT(store->get_many(all_keys()), Each(Optional(std::string("before"))));
  writer->put_many(records_with("after"));
  EXPECT_THAT(store->get_many(all_keys()), Each(Optional(std::string("after"))));
  EXPECT_EQ(store->keys_with_prefix("key").size(), 100U);
  const std::string key = "foo";
  EXPECT_GT(writer->append("log", std::span(&key, 1)), LogPosition{});
}

TEST_F(RedisFailover, IsFoundWhereAMasterHangs) {
  open("?wait_replicas=1&timeout=60s")->put_many(records_with("before"));
  const auto store = open("?timeout=500ms&failover=2m");
  ::kill(cluster_.node(1).pid(), SIGSTOP);
  EXPECT_THAT(store->get_many(all_keys()), Each(Optional(std::string("before"))));
  ::kill(cluster_.node(1).pid(), SIGCONT);
}

TEST_F(RedisFailover, LeavesTooFewReplicas) {
  open("?wait_replicas=1&timeout=60s")->put_many(records_with("before"));
  const auto store = open("?wait_replicas=1&timeout=1s&failover=2m");
  cluster_.node(2).kill();
  EXPECT_THAT(test::message_of<UnavailableError>([&] { store->put_many(records_with("after")); }),
              HasSubstr("only 0 of 1 replicas have it"));
  cluster_.node(2).start();
  EXPECT_TRUE(test::eventually(
      [&] {
        return test::message_of<UnavailableError>([&] { store->put_many(records_with("after")); }).empty();
      },
      seconds(120)))
      << "what comes back becomes a replica";
}

TEST_F(RedisFailover, LeavesMastersWithoutAReplicaThatNeedNone) {
  cluster_.wait_until_replicas_are_named();
  cluster_.node(3).kill();
  EXPECT_TRUE(test::eventually(
      [&] {
        return test::message_of<UnavailableError>([&] { open("")->put_many(records_with("a")); }).empty();
      },
      seconds(30)))
      << "once the cluster knows that the replica is lost";
  const auto store = open("");
  const int waits_before = test::calls_of(cluster_.node(0), "wait");
  store->put_many(records_with("b"));
  EXPECT_EQ(test::calls_of(cluster_.node(0), "wait"), waits_before);
}

TEST_F(RedisFailover, SaysHowToWriteWithoutReplicas) {
  cluster_.wait_until_replicas_are_named();
  const auto store = open("?timeout=300ms");
  ::kill(cluster_.node(3).pid(), SIGSTOP);
  EXPECT_THAT(test::message_of<UnavailableError>([&] { store->put_many(records_with("a")); }),
              HasSubstr("only 0 of 1 replicas have it after 150 ms (with ?wait_replicas=0 none needs to)"));
  ::kill(cluster_.node(3).pid(), SIGCONT);
}

TEST_F(RedisFailover, IsGivenUpWhenAMasterIsLostWithItsReplica) {
  const auto store = open("?failover=2s&timeout=1s");
  store->put_many(records_with("before"));
  cluster_.node(0).kill();
  cluster_.node(3).kill();
  std::string message;
  EXPECT_LT(
      time_of([&] { message = test::message_of<UnavailableError>([&] { store->get_many(all_keys()); }); }),
      seconds(8));
  EXPECT_THAT(message, AllOf(HasSubstr(cluster_.url() + ": "), HasSubstr("(tried for 2000 ms)"),
                             AnyOf(HasSubstr("Connection refused"), HasSubstr("CLUSTERDOWN"),
                                   HasSubstr("has no master"))));
  // A cluster that lacks slots serves none; foo is of another master.
  EXPECT_TRUE(test::eventually(
      [&] {
        return test::message_of<UnavailableError>([&] {
                 store->get("foo");
               }).find("CLUSTERDOWN The cluster is down") != std::string::npos;
      },
      seconds(30)));
}

TEST_F(RedisFailover, IsGivenUpWhenAllAreLost) {
  const auto store = open("?failover=500ms");
  for (std::size_t i = 0; i < 2 * test::RedisCluster::kMasters; ++i) cluster_.node(i).kill();
  std::string message;
  EXPECT_LT(time_of([&] { message = test::message_of<UnavailableError>([&] { store->get("a"); }); }),
            seconds(5));
  EXPECT_THAT(message, HasSubstr("Connection refused (tried for 500 ms)"));
}

TEST_F(RedisFailover, IsNotWaitedForUnlessThereIsPatience) {
  const auto store = open("?failover=0");
  store->put_many(records_with("before"));
  cluster_.node(0).kill();
  EXPECT_THROW(store->get_many(all_keys()), UnavailableError);
}

}  // namespace
}  // namespace keysieve
