// ?wait_replicas=: a write is done when replicas have it.
#include <gmock/gmock.h>
#include <signal.h>

#include "core/base/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/waits_cut_short.hpp"
#include "tools/stores/redis/redis_servers.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {
namespace {

using ::testing::Optional;

class RedisReplicas : public ::testing::Test {
 protected:
  RedisReplicas() { master_.flush_with_replicas(); }

  [[nodiscard]] std::unique_ptr<Store> open(const std::string& query) const {
    return open_store(master_.tcp_url() + query);
  }

  static void put(Store& store, const Record& record) { store.put_many(std::span(&record, 1)); }

  // What an exception of every kind of write says; nothing where one is none.
  static std::vector<std::string> messages_of_writes(Store& store) {
    const std::vector<Record> records(200, {"a", "1"});
    const std::vector<std::string> keys(200, "a");
    const auto message_of = [](const auto& write) { return test::message_of<ErrorKind::Unavailable>(write); };
    return {message_of([&] { store.put_many(records); }), message_of([&] {
              store.put_if_absent({"absent", "1"});
            }),
            message_of([&] {
              store.compare_and_set({"a", "2"}, "1");
            }),
            message_of([&] { store.append("log", keys); }), message_of([&] { store.remove_many(keys); })};
  }

  [[nodiscard]] std::vector<std::string> expected(const std::string& message) const {
    return std::vector<std::string>(5, message.empty() ? "" : master_.tcp_url() + ": " + message);
  }

  const test::RedisServer master_{{"--hz", "100"}};
  test::RedisServer replica_{{"--replicaof", "127.0.0.1", std::to_string(master_.port())}};
};

TEST_F(RedisReplicas, HaveWhatWasWritten) {
  const auto store = open("?wait_replicas=1&timeout=2m");
  for (int i = 0; i < 100; ++i) {
    put(*store, {"a", std::string(static_cast<std::size_t>(i), 'x')});
    ASSERT_EQ(replica_.command("STRLEN a"), ":" + std::to_string(i));
  }
  EXPECT_EQ(messages_of_writes(*store), expected(""));
}

TEST_F(RedisReplicas, AreMissedWhenTheyHang) {
  ::kill(replica_.pid(), SIGSTOP);
  const test::WaitsCutShort in_vain(master_);
  const auto store = open("?wait_replicas=1&timeout=2m");
  EXPECT_EQ(messages_of_writes(*store), expected("only 0 of 1 replicas have it after 60000 ms"));
  EXPECT_EQ(store->get("nothing"), std::nullopt) << "to read, none is needed";
  ::kill(replica_.pid(), SIGCONT);
}

TEST_F(RedisReplicas, AreMissedWhenTheyAreGone) {
  master_.command("SET before 1");
  replica_.kill();
  const test::WaitsCutShort in_vain(master_);
  const auto store = open("?wait_replicas=1&timeout=2m");
  EXPECT_EQ(messages_of_writes(*store), expected("only 0 of 1 replicas have it after 60000 ms"));
  EXPECT_THAT(store->get("before"), Optional(std::string("1")));
}

TEST_F(RedisReplicas, AreCounted) {
  const test::WaitsCutShort in_vain(master_, 1);
  const auto store = open("?wait_replicas=2&timeout=2m");
  EXPECT_EQ(test::message_of<ErrorKind::Unavailable>([&] {
              put(*store, {"a", "1"});
            }),
            master_.tcp_url() + ": only 1 of 2 replicas have it after 60000 ms");
}

TEST_F(RedisReplicas, AreWaitedForHalfOfTheTimeout) {
  using std::chrono_literals::operator""ms;
  EXPECT_EQ(ReplicaDemand(2, 10'000ms).command(), (RedisCommand{"WAIT", "2", "5000"}));
  EXPECT_EQ(ReplicaDemand(2, 1ms).command(), (RedisCommand{"WAIT", "2", "1"})) << "0 would wait for ever";
}

TEST_F(RedisReplicas, AreNotWaitedForUnlessAskedFor) {
  replica_.kill();
  EXPECT_EQ(messages_of_writes(*open("?timeout=2m")), expected(""));
}

}  // namespace
}  // namespace keysieve
