#include <gmock/gmock.h>
#include <signal.h>
#include <stdlib.h>

#include <array>
#include <atomic>
#include <fstream>
#include <set>
#include <thread>

#include "core/base/error.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/when_available.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

class RedisStore : public ::testing::Test {
 protected:
  RedisStore() {
    ::unsetenv("KEYSIEVE_REDIS_PASSWORD");
    server_.command("FLUSHALL");
    server_.command("ACL SETUSER app reset on >s3cret ~* +@all");
  }
  ~RedisStore() override { ::unsetenv("KEYSIEVE_REDIS_PASSWORD"); }

  static void put(Store& store, const Record& record) { store.put_many(std::span(&record, 1)); }

  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(server_.port()); }

  test::RedisServer& server_ = test::shared_redis();
};

TEST_F(RedisStore, NamesTheUrlWithoutPasswordWhenNobodyListens) {
  EXPECT_EQ(test::message_of<ErrorKind::Unavailable>(
                [] { open_store("redis://app:s3cret@127.0.0.1:1/2?prefix=a"); }),
            "redis://app@127.0.0.1:1/2: cannot connect: Connection refused");
  EXPECT_EQ(test::message_of<ErrorKind::Unavailable>(
                [] { open_store("redis+unix://:s3cret@/nowhere/redis.sock"); }),
            "redis+unix:///nowhere/redis.sock: cannot connect: No such file or directory");
}

TEST_F(RedisStore, SignsInWithUserAndPassword) {
  const auto store = open_store("redis://app:s3cret@" + address());
  put(*store, {"a", "1"});
  EXPECT_THAT(server_.command("ACL LOG"), "*0");
  EXPECT_EQ(store->name(), "redis://app@" + address());
  EXPECT_THAT(open_store("redis+unix://app:s3cret@" + server_.socket_path())->get("a"),
              Optional(std::string("1")));
}

TEST_F(RedisStore, SaysThatThePasswordIsWrongWithoutShowingIt) {
  EXPECT_EQ(test::message_of<ErrorKind::Login>([&] { open_store("redis://app:wr0ng@" + address()); }),
            "redis://app@" + address() + ": the server refuses user or password (WRONGPASS)");
  server_.command("ACL LOG RESET");
}

TEST_F(RedisStore, SignsInWithAPasswordAlone) {
  const test::RedisServer server({"--requirepass", "s3cret"});
  const std::string address = "127.0.0.1:" + std::to_string(server.port());
  put(*open_store("redis://:s3cret@" + address), {"a", "1"});
  const auto unsigned_store = open_store("redis://" + address);
  EXPECT_THAT(test::message_of<ErrorKind::Login>([&] { unsigned_store->get("a"); }),
              AllOf(HasSubstr("redis://" + address), HasSubstr("NOAUTH")));
}

TEST_F(RedisStore, IsUnavailableWhereTheServerHasNoRoomToSignIn) {
  const test::RedisServer server;
  server.command("ACL SETUSER app reset on >s3cret ~* +@all");
  const std::string url = "redis://app:s3cret@127.0.0.1:" + std::to_string(server.port());
  const auto first = open_store(url);
  server.command("CONFIG SET maxclients 1");
  EXPECT_THAT([&] { open_store(url); }, test::fails(ErrorKind::Unavailable));
  EXPECT_EQ(first->get("a"), std::nullopt);
}

TEST_F(RedisStore, BlamesUserAndPasswordWhereTheServerKnowsNone) {
  const test::RedisServer server;
  EXPECT_THAT(test::message_of<ErrorKind::Login>(
                  [&] { open_store("redis://:s3cret@127.0.0.1:" + std::to_string(server.port())); }),
              HasSubstr("the server refuses user or password (ERR)"));
}

TEST_F(RedisStore, TakesThePasswordFromAFile) {
  const test::TemporaryDirectory directory;
  std::ofstream(directory / "password") << "s3cret\n";
  put(*open_store("redis://app@" + address() + "?password_file=" + directory / "password"), {"a", "1"});
  EXPECT_EQ(test::message_of<ErrorKind::Login>(
                [&] { open_store("redis://app@" + address() + "?password_file=" + directory / "missing"); }),
            "redis://app@" + address() + ": cannot read the password: " + directory / "missing" +
                ": No such file or directory");
}

TEST_F(RedisStore, TakesThePasswordFromTheEnvironmentLast) {
  ::setenv("KEYSIEVE_REDIS_PASSWORD", "s3cret", 1);
  put(*open_store("redis://app@" + address()), {"a", "1"});
  ::setenv("KEYSIEVE_REDIS_PASSWORD", "wr0ng", 1);
  put(*open_store("redis://app:s3cret@" + address()), {"a", "2"});
  EXPECT_THAT(test::message_of<ErrorKind::Login>([&] { open_store("redis://app@" + address()); }),
              AllOf(HasSubstr("WRONGPASS"), Not(HasSubstr("wr0ng"))));
}

TEST_F(RedisStore, KeepsDatabasesApart) {
  put(*open_store(server_.tcp_url() + "/1"), {"a", "one"});
  put(*open_store(server_.tcp_url() + "/2"), {"a", "two"});
  EXPECT_THAT(open_store(server_.unix_url() + "?db=1")->get("a"), Optional(std::string("one")));
  EXPECT_THAT(open_store(server_.unix_url() + "?db=2")->get("a"), Optional(std::string("two")));
  EXPECT_EQ(open_store(server_.tcp_url())->get("a"), std::nullopt);
}

TEST_F(RedisStore, SaysThatADatabaseIsNotThere) {
  EXPECT_EQ(test::message_of<ErrorKind::Unavailable>([&] { open_store(server_.tcp_url() + "/77"); }),
            server_.tcp_url() + "/77: database 77: ERR DB index is out of range");
}

TEST_F(RedisStore, RefusesAKeyOfAnotherType) {
  server_.command("LPUSH list x");
  const auto store = open_store(server_.tcp_url());
  EXPECT_THAT(test::message_of<ErrorKind::Data>([&] { store->get("list"); }),
              HasSubstr(server_.tcp_url() + ": list: WRONGTYPE"));
  const std::vector<std::string> keys{"a", "list", "b"};
  EXPECT_THAT(test::message_of<ErrorKind::Data>([&] { store->get_many(keys); }),
              HasSubstr(": list: WRONGTYPE"));
  const auto watch = store->watch();
  const WatchedLog log{"list", {}};
  watch->arm(std::span(&log, 1));
  std::string message;
  EXPECT_TRUE(test::eventually([&] {
    message = test::message_of<ErrorKind::Data>([&] { watch->take(); });
    return !message.empty();
  }));
  EXPECT_THAT(message, HasSubstr(": list: WRONGTYPE"));
  EXPECT_EQ(store->get("a"), std::nullopt) << "and goes on";
}

TEST_F(RedisStore, ChangesNothingWhereScriptsAreRefused) {
  server_.command("ACL SETUSER app -eval");
  const auto store = open_store("redis://app:s3cret@" + address());
  put(*store, {"a", "1"});
  EXPECT_THAT(test::message_of<ErrorKind::Permission>([&] {
                store->compare_and_set({"a", "2"}, "1");
              }),
              HasSubstr("NOPERM"));
  EXPECT_THAT(store->get("a"), Optional(std::string("1")));
  server_.command("ACL LOG RESET");
}

TEST_F(RedisStore, SaysThatTheServerIsFull) {
  server_.command("CONFIG SET maxmemory 1");
  const auto store = open_store(server_.tcp_url());
  EXPECT_THAT(test::message_of<ErrorKind::CannotCreate>([&] { put(*store, {"a", "1"}); }), HasSubstr("OOM"));
  server_.command("CONFIG SET maxmemory 0");
  put(*store, {"a", "1"});
}

TEST_F(RedisStore, ConnectsAnewAfterTheServerHasClosedAnIdleConnection) {
  const auto store = open_store(server_.tcp_url());
  put(*store, {"a", "1"});
  EXPECT_EQ(server_.command("CLIENT KILL TYPE normal SKIPME yes")[0], ':');
  EXPECT_THAT(store->get("a"), Optional(std::string("1")));
}

// What was told to have been set, by a client that counts up however often it loses its connection.
std::vector<int> count_up_through_failures(const std::string& url, int times) {
  const auto store = open_store(url);
  std::vector<int> told;
  while (told.size() < static_cast<std::size_t>(times)) {
    try {
      const auto before = store->get("counter");
      const int after = std::stoi(before.value_or("0")) + 1;
      if (store->compare_and_set({"counter", std::to_string(after)}, before)) told.push_back(after);
    } catch (const Error& error) {  // whether it was set is unknown: look again
      if (!error.is_outage()) throw;
    }
  }
  return told;
}

TEST_F(RedisStore, NeverLetsTwoClientsReplaceOneValueWhileConnectionsAreLost) {
  constexpr int kTimes = 300;
  std::array<std::vector<int>, 4> told;
  std::atomic<bool> done = false;
  std::thread killer([&] {
    while (!done) server_.command("CLIENT KILL TYPE normal SKIPME yes");
  });
  std::vector<std::thread> clients;
  for (auto& own : told) {
    clients.emplace_back([&] { own = count_up_through_failures(server_.unix_url(), kTimes); });
  }
  for (std::thread& client : clients) client.join();
  done = true;
  killer.join();
  std::set<int> all;
  for (const auto& own : told) all.insert(own.begin(), own.end());
  EXPECT_EQ(all.size(), told.size() * kTimes);
}

TEST_F(RedisStore, TimesOutOnAServerThatHangs) {
  test::RedisServer server;
  server.command("SET a 1");
  const auto store = test::when_available([&] { return open_store(server.unix_url() + "?timeout=100ms"); });
  ::kill(server.pid(), SIGSTOP);
  EXPECT_EQ(test::message_of<ErrorKind::Unavailable>([&] { store->get("a"); }),
            server.unix_url() + ": no answer: timed out after 100 ms");
  ::kill(server.pid(), SIGCONT);
  EXPECT_EQ(test::when_available([&] { return store->get("b"); }), std::nullopt)
      << "the late answer is not taken for another";
}

TEST_F(RedisStore, RecoversFromAServerThatIsKilledInTheMiddle) {
  test::RedisServer server;
  const auto store = open_store(server.tcp_url() + "?timeout=2m");
  std::vector<Record> records;
  for (int i = 0; i < 200; ++i) records.push_back({std::to_string(i), std::string(kMaxValueBytes, 'x')});
  store->put_many(records);
  std::thread killer([&server] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    server.kill();
  });
  const std::string message = test::message_of<ErrorKind::Unavailable>([&] {
    for (;;) store->put_many(records);
  });
  killer.join();
  EXPECT_THAT(message, HasSubstr(server.tcp_url() + ": "));
  EXPECT_THAT([&] { store->get("0"); }, test::fails(ErrorKind::Unavailable));
  server.start();
  EXPECT_EQ(store->get("0"), std::nullopt);
  put(*store, {"a", "1"});
}

}  // namespace
}  // namespace keysieve
