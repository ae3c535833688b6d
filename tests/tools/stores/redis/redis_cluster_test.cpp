// The store over a cluster whose masters all live: where commands go, and how they find slots that move.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "core/base/error.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/redis_cluster.hpp"
#include "tests/support/waits_cut_short.hpp"
#include "tests/support/when_available.hpp"
#include "tools/stores/redis/redis_slots.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

class RedisCluster : public ::testing::Test {
 protected:
  RedisCluster() { cluster_.flush(); }

  [[nodiscard]] std::unique_ptr<Store> open(const std::string& query = "") const {
    return open_store(cluster_.url() + query);
  }
  [[nodiscard]] std::string address(std::size_t node) const {
    return "127.0.0.1:" + std::to_string(cluster_.node(node).port());
  }

  static void put(Store& store, const std::string& key, const std::string& value) {
    const Record record{key, value};
    store.put_many(std::span(&record, 1));
  }

  // How often the server has answered with that error.
  static int count_of_errors(const test::RedisServer& server, const std::string& code) {
    const std::string statistics = server.text("INFO errorstats");
    const std::string name = "errorstat_" + code + ":count=";
    const std::size_t at = statistics.find(name);
    return at == std::string::npos ? 0 : std::stoi(statistics.substr(at + name.size()));
  }

  test::RedisServer& master_of(const std::string& key) { return cluster_.master_of(slot_of(key)); }

  test::RedisCluster& cluster_ = test::shared_redis_cluster();
};

// One slot on its way from its master to the next one; there at last when the object is gone.
class MovingSlot {
 public:
  MovingSlot(test::RedisCluster& cluster, std::size_t slot)
      : cluster_(cluster),
        slot_(slot),
        slot_name_(std::to_string(slot)),
        from_(cluster.master_of(slot)),
        to_(next(from_)) {
    expect_ok(to_, "CLUSTER SETSLOT " + slot_name_ + " IMPORTING " + from_.text("CLUSTER MYID"));
    expect_ok(from_, "CLUSTER SETSLOT " + slot_name_ + " MIGRATING " + to_.text("CLUSTER MYID"));
  }
  MovingSlot(const MovingSlot&) = delete;
  MovingSlot& operator=(const MovingSlot&) = delete;
  ~MovingSlot() { finish(); }

  [[nodiscard]] test::RedisServer& from() const { return from_; }
  [[nodiscard]] test::RedisServer& to() const { return to_; }

  void move(const std::string& key) const {
    expect_ok(from_, "MIGRATE 127.0.0.1 " + std::to_string(to_.port()) + " \"\" 0 120000 KEYS " + key);
  }

  // It stays where it was.
  void call_off() {
    is_done_ = true;
    expect_ok(from_, "CLUSTER SETSLOT " + slot_name_ + " STABLE");
    expect_ok(to_, "CLUSTER SETSLOT " + slot_name_ + " STABLE");
  }

  // Returns when all nodes know: another move before that could undo this one.
  void finish() {
    if (is_done_) return;
    is_done_ = true;
    const std::string command = "CLUSTER SETSLOT " + slot_name_ + " NODE " + to_.text("CLUSTER MYID");
    expect_ok(to_, command);
    expect_ok(from_, command);
    cluster_.wait_until_all_know(to_, slot_);
  }

 private:
  test::RedisServer& next(const test::RedisServer& master) {
    for (std::size_t i = 0; i < test::RedisCluster::kMasters; ++i) {
      if (&cluster_.node(i) != &master) return cluster_.node(i);
    }
    throw std::logic_error("one master alone");
  }
  static void expect_ok(const test::RedisServer& server, const std::string& command) {
    EXPECT_EQ(server.command(command), "+OK") << command;
  }

  test::RedisCluster& cluster_;
  std::size_t slot_;
  std::string slot_name_;
  test::RedisServer& from_;
  test::RedisServer& to_;
  bool is_done_ = false;
};

TEST_F(RedisCluster, SpreadsRecordsOverAllMasters) {
  std::vector<Record> records;
  for (int i = 0; i < 300; ++i) records.push_back({"keysieve:tags:0123:" + std::to_string(i), "chunk"});
  open()->put_many(records);
  int sum = 0;
  for (std::size_t i = 0; i < test::RedisCluster::kMasters; ++i) {
    const int size = std::stoi(cluster_.node(i).command("DBSIZE").substr(1));
    EXPECT_GT(size, 50) << "a third is 100";
    sum += size;
  }
  EXPECT_EQ(sum, 300);
}

TEST_F(RedisCluster, IsFoundFromAnyOfItsNodes) {
  put(*open(), "a", "1");
  for (std::size_t i = 0; i < 2 * test::RedisCluster::kMasters; ++i) {
    EXPECT_THAT(open_store("redis-cluster://" + address(i))->get("a"), Optional(std::string("1")));
  }
  EXPECT_THAT(open_store("redis-cluster://127.0.0.1:1," + address(4))->get("a"), Optional(std::string("1")))
      << "nobody listens at the first";
}

TEST_F(RedisCluster, IsUnavailableWhenNoneOfItsNodesAnswers) {
  EXPECT_EQ(test::message_of<ErrorKind::Unavailable>(
                [] { open_store("redis-cluster://:s3cret@127.0.0.1:2,127.0.0.1:1"); }),
            "redis-cluster://127.0.0.1:2,127.0.0.1:1: 127.0.0.1:1: cannot connect: Connection refused");
}

TEST_F(RedisCluster, IsNotMistakenForASingleServer) {
  const std::string url = "redis-cluster://127.0.0.1:" + std::to_string(test::shared_redis().port());
  EXPECT_THAT(test::message_of<ErrorKind::Unavailable>([&] { open_store(url); }),
              HasSubstr("cluster support disabled"));
}

TEST_F(RedisCluster, SignsInAtEveryNode) {
  for (std::size_t i = 0; i < 2 * test::RedisCluster::kMasters; ++i) {
    cluster_.node(i).command("ACL SETUSER app reset on >s3cret ~* +@all");
  }
  const auto store = open_store("redis-cluster://app:s3cret@" + address(0));
  for (const char* key : {"foo", "bar", "hello"}) put(*store, key, "1");
  EXPECT_EQ(store->name(), "redis-cluster://app@" + address(0));
  EXPECT_EQ(
      test::message_of<ErrorKind::Login>([&] { open_store("redis-cluster://app:wr0ng@" + address(0)); }),
      "redis-cluster://app@" + address(0) + ": " + address(0) +
          ": the server refuses user or password (WRONGPASS)");
}

TEST_F(RedisCluster, FollowsASlotThatHasMoved) {
  const auto store = open();
  put(*store, "foo", "1");
  test::RedisServer& old_master = master_of("foo");
  const int moved_before = count_of_errors(old_master, "MOVED");
  {
    const MovingSlot slot(cluster_, slot_of("foo"));
    slot.move("foo");
  }
  EXPECT_NE(&master_of("foo"), &old_master);
  EXPECT_THAT(store->get("foo"), Optional(std::string("1")));
  EXPECT_EQ(count_of_errors(old_master, "MOVED"), moved_before + 1);
  EXPECT_TRUE(store->compare_and_set({"foo", "2"}, "1"));
  EXPECT_THAT(store->get("foo"), Optional(std::string("2")));
  EXPECT_EQ(count_of_errors(old_master, "MOVED"), moved_before + 1) << "and remembers it";
}

TEST_F(RedisCluster, AsksTheOtherMasterWhileASlotMoves) {
  const auto store = open();
  put(*store, "{foo}here", "1");
  put(*store, "{foo}there", "1");
  put(*store, "bar", "1");
  const MovingSlot slot(cluster_, slot_of("foo"));
  slot.move("{foo}there");
  const int asked_before = count_of_errors(slot.from(), "ASK");
  const std::vector<std::string> keys{"{foo}there", "bar", "{foo}here", "{foo}nowhere"};
  EXPECT_THAT(store->get_many(keys), ElementsAre("1", "1", "1", std::nullopt));
  EXPECT_EQ(count_of_errors(slot.from(), "ASK"), asked_before + 2);
  put(*store, "{foo}there", "2");
  EXPECT_TRUE(store->put_if_absent({"{foo}new", "1"}));
  EXPECT_FALSE(store->put_if_absent({"{foo}there", "3"}));
  EXPECT_TRUE(store->compare_and_set({"{foo}there", "4"}, "2"));
  store->remove_many(std::span(&keys[2], 1));
  EXPECT_THAT(store->get_many(keys), ElementsAre("4", "1", std::nullopt, std::nullopt));
  EXPECT_GT(count_of_errors(slot.from(), "ASK"), asked_before + 2) << "it has not moved for good";
}

TEST_F(RedisCluster, AsksTheFirstMasterAgainWhereTheOtherOneIsSilent) {
  const auto store = test::when_available([this] { return open("?timeout=200ms&failover=2m"); });
  EXPECT_EQ(store->get("{foo}nowhere"), std::nullopt);
  MovingSlot slot(cluster_, slot_of("foo"));
  const int asked_before = count_of_errors(slot.from(), "ASK");
  slot.to().command("CLIENT PAUSE 2000 ALL");
  const std::jthread operator_thread([&] {
    EXPECT_TRUE(test::eventually([&] { return count_of_errors(slot.from(), "ASK") > asked_before; }));
    slot.call_off();
  });
  EXPECT_EQ(store->get("{foo}nowhere"), std::nullopt);
}

TEST_F(RedisCluster, LosesNothingWhileSlotsMove) {
  constexpr int kKeys = 20;
  std::vector<std::string> keys;
  std::vector<Record> records;
  for (int i = 0; i < kKeys; ++i) {
    keys.push_back("key" + std::to_string(i));
    records.push_back({keys.back(), "1"});
  }
  const auto store = open();
  store->put_many(records);
  std::atomic<bool> done = false;
  std::jthread mover([&] {
    for (const std::string& key : keys) {
      const MovingSlot slot(cluster_, slot_of(key));
      slot.move(key);
    }
    done = true;
  });
  int rounds = 0;
  do {
    ++rounds;
    for (Record& record : records) record.value = std::to_string(rounds);
    store->put_many(records);
    EXPECT_THAT(store->get_many(keys), Each(Optional(std::to_string(rounds))));
  } while (!done);
  mover.join();
  EXPECT_THAT(open()->get_many(keys), Each(Optional(std::to_string(rounds))));
  EXPECT_EQ(open()->keys_with_prefix("key").size(), keys.size());
}

TEST_F(RedisCluster, KeepsRecordsOnReplicasUnlessToldOtherwise) {
  std::vector<Record> records;
  for (int i = 0; i < 300; ++i) records.push_back({"key" + std::to_string(i), "1"});
  const auto waits = [this] {
    int count = 0;
    for (std::size_t i = 0; i < test::RedisCluster::kMasters; ++i) {
      count += test::calls_of(cluster_.node(i), "wait");
    }
    return count;
  };
  cluster_.wait_until_replicas_are_named();
  const int waits_before = waits();
  open("?wait_replicas=0")->put_many(records);
  EXPECT_EQ(waits(), waits_before);
  cluster_.flush();
  open()->put_many(records);
  EXPECT_EQ(waits(), waits_before + 3);
  int sum = 0;
  for (std::size_t i = test::RedisCluster::kMasters; i < 2 * test::RedisCluster::kMasters; ++i) {
    sum += std::stoi(cluster_.node(i).command("DBSIZE").substr(1));
  }
  EXPECT_EQ(sum, 300);
  std::vector<std::unique_ptr<test::WaitsCutShort>> in_vain;
  for (std::size_t i = 0; i < test::RedisCluster::kMasters; ++i)
    in_vain.push_back(std::make_unique<test::WaitsCutShort>(cluster_.node(i), 1));
  EXPECT_THAT(test::message_of<ErrorKind::Unavailable>(
                  [&] { open("?wait_replicas=2&timeout=2m")->put_many(records); }),
              AllOf(HasSubstr(cluster_.url() + ": 127.0.0.1:"), HasSubstr("only 1 of 2 replicas have it"),
                    Not(HasSubstr("tried for"))));
}

int blocked_clients(test::RedisCluster& cluster) {
  int count = 0;
  for (std::size_t i = 0; i < test::RedisCluster::kMasters; ++i) {
    const std::string clients = cluster.node(i).text("INFO clients");
    const std::string name = "\nblocked_clients:";
    count += std::stoi(clients.substr(clients.find(name) + name.size()));
  }
  return count;
}

TEST_F(RedisCluster, WatchesEachLogOverAConnectionOfItsOwn) {
  const auto watch = open()->watch();
  const std::vector<WatchedLog> logs{{"foo", {}}, {"{foo}too", {}}, {"bar", {}}};
  watch->arm(logs);
  EXPECT_TRUE(test::eventually([this] { return blocked_clients(cluster_) == 3; }));
  watch->arm(std::span(logs).first(2));
  EXPECT_TRUE(test::eventually([this] { return blocked_clients(cluster_) == 2; }));
}

TEST_F(RedisCluster, EndsAWatchWhoseLogMovesToAnotherMaster) {
  const auto store = open();
  const auto watch = store->watch();
  const WatchedLog log{"foo", {}};
  watch->arm(std::span(&log, 1));
  MovingSlot(cluster_, slot_of("foo")).finish();
  EXPECT_THAT(test::message_of<ErrorKind::Unavailable>(
                  [&] { EXPECT_TRUE(test::eventually([&] { return !watch->take().empty(); })); }),
              HasSubstr("MOVED"));
  const auto next_watch = store->watch();
  next_watch->arm(std::span(&log, 1));
  store->notify("foo");
  EXPECT_TRUE(test::eventually([&] { return !next_watch->take().empty(); }));
}

}  // namespace
}  // namespace keysieve
