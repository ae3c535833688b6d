// The store over a cluster whose masters are all up: where commands go, and how they find slots that move.
#include <random>
#include <thread>

#include "core/builder/base/log_positions.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/store_calls.hpp"
#include "tools/stores/redis/redis_slots.hpp"
#include "tools/stores/store.hpp"

namespace keysieve::test {
namespace {

class RedisClusterStore : public ::testing::Test {
 protected:
  RedisClusterStore() { cluster_.flush(); }

  [[nodiscard]] std::unique_ptr<Store> open(const std::string& query = "") const {
    return open_store(cluster_.url() + query);
  }
  [[nodiscard]] std::string address(std::size_t node) const { return cluster_.node(node).address(); }

  // How often the server has answered with that error.
  static int count_of_errors(const RedisServer& server, const std::string& code) {
    return static_cast<int>(info_of(server, "errorstats", "errorstat_" + code + ":count="));
  }

  // The sum over all masters.
  template <typename Number>
  int sum(const Number& number_of, std::size_t first = 0) {
    int all = 0;
    for (std::size_t i = 0; i < RedisCluster::kMasters; ++i) all += number_of(cluster_.node(first + i));
    return all;
  }
  static int records_in(const RedisServer& server) { return std::stoi(server.command("DBSIZE").substr(1)); }

  RedisServer& master_of(const std::string& key) { return cluster_.master_of(slot_of(key)); }

  RedisCluster& cluster_ = shared_redis_cluster();
};

// One slot on its way from its master to the next one; it has arrived when the object is gone.
class MovingSlot {
 public:
  MovingSlot(RedisCluster& cluster, std::size_t slot)
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

  [[nodiscard]] RedisServer& from() const { return from_; }
  [[nodiscard]] RedisServer& to() const { return to_; }

  void move(const std::string& key) const {
    expect_ok(from_, "MIGRATE 127.0.0.1 " + std::to_string(to_.port()) + " \"\" 0 120000 KEYS " + key);
  }

  // The slot stays where it was.
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
  RedisServer& next(const RedisServer& master) {
    for (std::size_t i = 0; i < RedisCluster::kMasters; ++i) {
      if (&cluster_.node(i) != &master) return cluster_.node(i);
    }
    throw std::logic_error("one master alone");
  }
  static void expect_ok(const RedisServer& server, const std::string& command) {
    EXPECT_EQ(server.command(command), "+OK") << command;
  }

  RedisCluster& cluster_;
  std::size_t slot_;
  std::string slot_name_;
  RedisServer& from_;
  RedisServer& to_;
  bool is_done_ = false;
};

TEST_F(RedisClusterStore, SpreadsRecordsOverAllMasters) {
  open()->put_many(records_of(numbered("keysieve:tags:0123:", 300), "chunk"));
  for (std::size_t i = 0; i < RedisCluster::kMasters; ++i) {
    EXPECT_GT(records_in(cluster_.node(i)), 50) << "a third is 100";
  }
  EXPECT_EQ(sum(records_in), 300);
}

TEST_F(RedisClusterStore, IsFoundFromAnyOfItsNodes) {
  put(*open(), "a", "1");
  for (std::size_t i = 0; i < 2 * RedisCluster::kMasters; ++i) {
    EXPECT_EQ(open_store("redis-cluster://" + address(i))->get("a"), "1");
  }
  EXPECT_EQ(open_store("redis-cluster://127.0.0.1:1," + address(4))->get("a"), "1")
      << "nobody listens at the first";
}

TEST_F(RedisClusterStore, IsNotMistakenForASingleServer) {
  const std::string url = "redis-cluster://127.0.0.1:" + std::to_string(shared_redis().port());
  EXPECT_EQ(failure_of([&] { open_store(url); }), ErrorKind::Unavailable);
  EXPECT_EQ(failure_of([] { open_store("redis-cluster://127.0.0.1:2,127.0.0.1:1"); }),
            ErrorKind::Unavailable);
}

TEST_F(RedisClusterStore, SignsInAtEveryNode) {
  for (std::size_t i = 0; i < 2 * RedisCluster::kMasters; ++i) {
    cluster_.node(i).command("ACL SETUSER app reset on >s3cret ~* &* +@all");
  }
  const auto store = open_store("redis-cluster://app:s3cret@" + address(0));
  for (const char* key : {"foo", "bar", "hello"}) put(*store, key, "1");
  EXPECT_EQ(store->name(), "redis-cluster://app@" + address(0));
  EXPECT_EQ(failure_of([&] { open_store("redis-cluster://app:wr0ng@" + address(0)); }), ErrorKind::Login);
}

TEST_F(RedisClusterStore, FollowsASlotThatHasMoved) {
  const auto store = open();
  put(*store, "foo", "1");
  RedisServer& old_master = master_of("foo");
  const int moved_before = count_of_errors(old_master, "MOVED");
  {
    const MovingSlot slot(cluster_, slot_of("foo"));
    slot.move("foo");
  }
  EXPECT_NE(&master_of("foo"), &old_master);
  EXPECT_EQ(store->get("foo"), "1");
  EXPECT_EQ(count_of_errors(old_master, "MOVED"), moved_before + 1);
  EXPECT_TRUE(store->compare_and_set({"foo", "2"}, "1"));
  EXPECT_EQ(store->get("foo"), "2");
  EXPECT_EQ(count_of_errors(old_master, "MOVED"), moved_before + 1) << "and remembers it";
}

TEST_F(RedisClusterStore, AsksTheOtherMasterWhileASlotMoves) {
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

TEST_F(RedisClusterStore, AsksTheFirstMasterAgainWhenTheOtherOneIsSilent) {
  const auto store = when_available([this] { return open("?timeout=200ms&failover=2m"); });
  EXPECT_EQ(store->get("{foo}nowhere"), std::nullopt);
  MovingSlot slot(cluster_, slot_of("foo"));
  const int asked_before = count_of_errors(slot.from(), "ASK");
  slot.to().command("CLIENT PAUSE 2000 ALL");
  const std::jthread operator_thread([&] {
    EXPECT_TRUE(eventually([&] { return count_of_errors(slot.from(), "ASK") > asked_before; }));
    slot.call_off();
  });
  EXPECT_EQ(store->get("{foo}nowhere"), std::nullopt);
}

TEST_F(RedisClusterStore, KeepsRecordsOnReplicasUnlessToldOtherwise) {
  const std::vector<Record> records = records_of(numbered("key", 300), "1");
  const auto waits = [this] { return sum([](const auto& server) { return calls_of(server, "wait"); }); };
  cluster_.wait_until_replicas_are_named();
  const int waits_before = waits();
  open("?wait_replicas=0")->put_many(records);
  EXPECT_EQ(waits(), waits_before);
  cluster_.flush();
  open()->put_many(records);
  EXPECT_EQ(waits(), waits_before + 3);
  EXPECT_EQ(sum(records_in, /*first=*/RedisCluster::kMasters), 300) << "the replicas";
  std::vector<std::unique_ptr<WaitsCutShort>> in_vain;
  for (std::size_t i = 0; i < RedisCluster::kMasters; ++i)
    in_vain.push_back(std::make_unique<WaitsCutShort>(cluster_.node(i), 1));
  EXPECT_EQ(failure_of([&] { open("?wait_replicas=2&timeout=2m")->put_many(records); }),
            ErrorKind::Unavailable);
}

TEST_F(RedisClusterStore, IsWatchedOverOneConnectionThatHearsOfEveryMaster) {
  const auto watch = open()->watch();
  std::set<int> masters;
  for (const std::string name : {"tags", "users", "items"}) {
    const std::string log = "keysieve:" + name + ":adds";
    masters.insert(master_of(log).port());
    append(*open(), {"key"}, log);
    EXPECT_THAT(wait(*watch), ElementsAre(log));
  }
  EXPECT_EQ(masters.size(), RedisCluster::kMasters);
}

const RedisHost kAsked{"10.0.0.9", 7000};

RedisReply reply_of(const std::string& bytes) {
  redisReader* reader = redisReaderCreate();
  redisReaderFeed(reader, bytes.data(), bytes.size());
  void* reply = nullptr;
  redisReaderGetReply(reader, &reply);
  redisReaderFree(reader);
  return RedisReply(static_cast<redisReply*>(reply));
}

// CRC16 of the key, or of the text in the first braces unless that is empty.
TEST(RedisClusterSlotOf, AgreesWithAServer) {
  std::mt19937 random(1);
  const std::string letters = "ab:{}-.";
  for (int i = 0; i < 500; ++i) {
    std::string key(1 + random() % 12, 'x');
    for (char& letter : key) letter = letters[random() % letters.size()];
    EXPECT_EQ(shared_redis_cluster().node(0).command("CLUSTER KEYSLOT " + key),
              ":" + std::to_string(slot_of(key)));
  }
}

TEST(RedisAddress, HasNoNul) {
  RedisAddress cluster;
  cluster.name = "redis-cluster://h";
  EXPECT_EQ(address_at(cluster, {"10.0.0.1", 7000}).name, "redis-cluster://h: 10.0.0.1:7000");
  EXPECT_EQ(failure_of([] {
              static_cast<void>(address_at({}, {std::string("h\0i", 3), 7000}));
            }),
            ErrorKind::Data);
}

TEST(RedisRedirection, NamesASlotAndAServer) {
  const auto moved = parse_redirection("MOVED 3999 127.0.0.1:6381", kAsked);
  ASSERT_TRUE(moved.has_value());
  EXPECT_EQ(moved->slot, 3999U);
  EXPECT_EQ(moved->host, (RedisHost{"127.0.0.1", 6381}));
  EXPECT_EQ(parse_redirection("ASK 0 ::1:6381", kAsked)->host, (RedisHost{"::1", 6381}));
  EXPECT_EQ(parse_redirection("MOVED 16383 :6381", kAsked)->host, (RedisHost{"10.0.0.9", 6381}))
      << "no address is that of the server which was asked";
}

TEST(RedisRedirection, IsNothingWhenDamaged) {
  for (const char* text : {"", "MOVED", "MOVED ", "MOVED 1", "MOVED 16384 h:1", "MOVED x h:1", "MOVED 1 h",
                           "MOVED 1 h:", "MOVED 1 h:65536", "MOVED 1 h:1x", "MOVED -1 h:1"}) {
    EXPECT_FALSE(parse_redirection(text, kAsked).has_value()) << text;
  }
}

TEST(RedisSlots, KnowMastersAndReplicas) {
  const RedisSlots slots(
      *reply_of("*2\r\n"
                "*4\r\n:0\r\n:99\r\n*2\r\n$1\r\na\r\n:1\r\n*3\r\n$1\r\nb\r\n:2\r\n$2\r\nid\r\n"
                "*3\r\n:101\r\n:16383\r\n*2\r\n$1\r\nc\r\n:3\r\n"),
      kAsked, "redis-cluster://a");
  EXPECT_THAT(slots.master_of(0), Pointee(RedisHost{"a", 1}));
  EXPECT_THAT(slots.master_of(99), Pointee(RedisHost{"a", 1}));
  EXPECT_EQ(slots.master_of(100), nullptr);
  EXPECT_THAT(slots.master_of(101), Pointee(RedisHost{"c", 3}));
  EXPECT_THAT(slots.master_of(16383), Pointee(RedisHost{"c", 3}));
  EXPECT_THAT(slots.masters(), ElementsAre(RedisHost{"a", 1}, RedisHost{"c", 3}));
  EXPECT_THAT(slots.nodes(), ElementsAre(RedisHost{"a", 1}, RedisHost{"c", 3}, RedisHost{"b", 2}));
  EXPECT_EQ(slots.unserved(), 1U);
}

TEST(RedisSlots, UseTheAskedServerForANodeWithoutAddress) {
  for (const char* address : {"$0\r\n\r\n", "$-1\r\n"}) {
    const RedisSlots slots(
        *reply_of("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n" + std::string(address) + ":7001\r\n"), kAsked,
        "redis-cluster://a");
    EXPECT_THAT(slots.master_of(5), Pointee(RedisHost{"10.0.0.9", 7001}));
  }
}

TEST(RedisSlots, RefuseInvalidReplies) {
  for (const char* bytes :
       {"*1\r\n:1\r\n", "*1\r\n*2\r\n:0\r\n:1\r\n", "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\na\r\n:1\r\n",
        "*1\r\n*3\r\n:2\r\n:1\r\n*2\r\n$1\r\na\r\n:1\r\n", "*1\r\n*3\r\n:-1\r\n:1\r\n*2\r\n$1\r\na\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n$1\r\na\r\n", "*1\r\n*3\r\n:0\r\n:1\r\n*1\r\n$1\r\na\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n"}) {
    EXPECT_EQ(failure_of([&] { RedisSlots(*reply_of(bytes), kAsked, "redis-cluster://a"); }), ErrorKind::Data)
        << bytes;
  }
}

}  // namespace
}  // namespace keysieve::test
