#include "tools/stores/redis/redis_slots.hpp"

#include <random>

#include "tests/support/matchers.hpp"
#include "tests/support/redis_cluster.hpp"

namespace keysieve::test {
namespace {

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
    EXPECT_THAT(
        message_of<ErrorKind::Data>([&] { RedisSlots(*reply_of(bytes), kAsked, "redis-cluster://a"); }),
        StartsWith("redis-cluster://a: "))
        << bytes;
  }
}

}  // namespace
}  // namespace keysieve::test
