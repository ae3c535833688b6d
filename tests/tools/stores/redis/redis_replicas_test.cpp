// ?wait_replicas=: a write is done when replicas have it.
#include <signal.h>

#include <functional>

#include "tests/support/matchers.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/store_calls.hpp"
#include "tools/stores/redis/redis_servers.hpp"
#include "tools/stores/store.hpp"

namespace keysieve::test {
namespace {

class RedisReplicas : public ::testing::Test {
 protected:
  RedisReplicas() { master_.flush_with_replicas(); }

  [[nodiscard]] std::unique_ptr<Store> open(const std::string& query) const {
    return open_store(master_.tcp_url() + query);
  }

  // The error messages of every kind of write; nothing for a write that succeeds.
  static std::vector<std::string> messages_of_writes(Store& store) {
    const std::vector<Record> records(200, {"a", "1"});
    const std::vector<std::string> keys(200, "a");
    const std::vector<std::function<void()>> writes{
        [&] { store.put_many(records); },
        [&] {
          store.put_if_absent({"absent", "1"});
        },
        [&] {
          store.compare_and_set({"a", "2"}, "1");
        },
        [&] { store.append("log", keys); },
        [&] { store.remove_many(keys); },
    };
    std::vector<std::string> messages;
    for (const auto& write : writes) messages.push_back(message_of<ErrorKind::Unavailable>(write));
    return messages;
  }

  [[nodiscard]] std::vector<std::string> expected(const std::string& message) const {
    return std::vector<std::string>(5, message.empty() ? "" : master_.tcp_url() + ": " + message);
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
  EXPECT_EQ(messages_of_writes(*store), expected(""));
}

TEST_F(RedisReplicas, AreMissedWhenTheyHang) {
  ::kill(replica_.pid(), SIGSTOP);
  const WaitsCutShort in_vain(master_);
  const auto store = open("?wait_replicas=1&timeout=2m");
  EXPECT_EQ(messages_of_writes(*store), expected("only 0 of 1 replicas have it after 60000 ms"));
  EXPECT_EQ(store->get("nothing"), std::nullopt) << "to read, none is needed";
  ::kill(replica_.pid(), SIGCONT);
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
}  // namespace keysieve::test
