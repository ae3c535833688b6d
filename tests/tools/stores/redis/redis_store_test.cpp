#include <signal.h>
#include <stdlib.h>

#include <array>
#include <atomic>
#include <fstream>
#include <set>
#include <thread>

#include "tests/support/canned_server.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/store_calls.hpp"

namespace keysieve::test {
namespace {

class RedisStore : public ::testing::Test {
 protected:
  RedisStore() {
    ::unsetenv("KEYSIEVE_REDIS_PASSWORD");
    server_.command("FLUSHALL");
    server_.command("ACL SETUSER app reset on >s3cret ~* &* +@all");
  }
  ~RedisStore() override { ::unsetenv("KEYSIEVE_REDIS_PASSWORD"); }

  RedisServer& server_ = shared_redis();
};

// An array for which it takes no memory, and an error without a text.
TEST_F(RedisStore, TakesNothingElseForAnAnswer) {
  for (const std::string reply : {"*2147483647\r\n", "-\r\n"}) {
    const CannedServer server("\r\n", reply);
    const auto store = open_store("redis://" + server.address() + "?timeout=2m");
    EXPECT_EQ(failure_of([&] { store->get("a"); }), ErrorKind::Unavailable) << reply;
  }
}

TEST_F(RedisStore, SignsInWithUserAndPassword) {
  server_.command("ACL LOG RESET");
  const auto store = open_store(server_.tcp_url("app:s3cret@"));
  put(*store, "a", "1");
  EXPECT_THAT(server_.command("ACL LOG"), "*0");
  EXPECT_EQ(store->name(), server_.tcp_url("app@"));
  EXPECT_EQ(open_store("redis+unix://app:s3cret@" + server_.socket_path())->get("a"), "1");
}

TEST_F(RedisStore, SignsInWithAPasswordAloneWhereTheServerHasOne) {
  const RedisServer open;
  EXPECT_EQ(failure_of([&] { open_store(open.tcp_url(":s3cret@")); }), ErrorKind::Login);
  const RedisServer server({"--requirepass", "s3cret"});
  put(*open_store(server.tcp_url(":s3cret@")), "a", "1");
  const auto unsigned_store = open_store(server.tcp_url());
  EXPECT_EQ(failure_of([&] { unsigned_store->get("a"); }), ErrorKind::Login);
}

TEST_F(RedisStore, IsUnavailableWhenTheServerHasNoRoomToSignIn) {
  const RedisServer server;
  server.command("ACL SETUSER app reset on >s3cret ~* &* +@all");
  const std::string url = server.tcp_url("app:s3cret@");
  const auto first = open_store(url);
  server.command("CONFIG SET maxclients 1");
  EXPECT_EQ(failure_of([&] { open_store(url); }), ErrorKind::Unavailable);
  EXPECT_EQ(first->get("a"), std::nullopt);
}

TEST_F(RedisStore, TakesThePasswordFromAFile) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "password") << "s3cret\n";
  put(*open_store(server_.tcp_url("app@") + "?password_file=" + directory / "password"), "a", "1");
  const std::string missing = server_.tcp_url("app@") + "?password_file=" + directory / "missing";
  EXPECT_EQ(failure_of([&] { open_store(missing); }), ErrorKind::Login);
}

TEST_F(RedisStore, TakesThePasswordFromTheEnvironmentLast) {
  ::setenv("KEYSIEVE_REDIS_PASSWORD", "s3cret", 1);
  put(*open_store(server_.tcp_url("app@")), "a", "1");
  ::setenv("KEYSIEVE_REDIS_PASSWORD", "wr0ng", 1);
  put(*open_store(server_.tcp_url("app:s3cret@")), "a", "2");
  EXPECT_EQ(failure_of([this] { open_store(server_.tcp_url("app@")); }), ErrorKind::Login);
}

TEST_F(RedisStore, KeepsDatabasesApart) {
  put(*open_store(server_.tcp_url() + "/1"), "a", "one");
  put(*open_store(server_.tcp_url() + "/2"), "a", "two");
  EXPECT_EQ(open_store(server_.unix_url() + "?db=1")->get("a"), "one");
  EXPECT_EQ(open_store(server_.unix_url() + "?db=2")->get("a"), "two");
  EXPECT_EQ(open_store(server_.tcp_url())->get("a"), std::nullopt);
  EXPECT_EQ(failure_of([this] { open_store(server_.tcp_url() + "/77"); }), ErrorKind::Unavailable);
}

TEST_F(RedisStore, RefusesAKeyOfAnotherType) {
  server_.command("LPUSH list x");
  const auto store = open_store(server_.tcp_url());
  EXPECT_EQ(failure_of([&] { store->get("list"); }), ErrorKind::Data);
  const std::vector<std::string> keys{"a", "list", "b"};
  EXPECT_EQ(failure_of([&] { store->get_many(keys); }), ErrorKind::Data);
  EXPECT_EQ(store->get("a"), std::nullopt) << "and goes on";
}

TEST_F(RedisStore, ChangesNothingWhenScriptsAreRefused) {
  server_.command("ACL SETUSER app -eval");
  const auto store = open_store(server_.tcp_url("app:s3cret@"));
  put(*store, "a", "1");
  EXPECT_EQ(failure_of([&] { store->compare_and_set({"a", "2"}, "1"); }), ErrorKind::Permission);
  EXPECT_EQ(store->get("a"), "1");
  server_.command("ACL LOG RESET");
}

TEST_F(RedisStore, ReconnectsAfterTheServerHasClosedAnIdleConnection) {
  const auto store = open_store(server_.tcp_url());
  put(*store, "a", "1");
  EXPECT_EQ(server_.command("CLIENT KILL TYPE normal SKIPME yes")[0], ':');
  EXPECT_EQ(store->get("a"), "1");
}

// Counts up, however often the connection is lost; returns the values that the store confirmed.
std::vector<int> count_up_through_failures(const std::string& url, int times) {
  const auto store = open_store(url);
  std::vector<int> told;
  while (told.size() < static_cast<std::size_t>(times)) {
    try {
      const auto before = store->get("counter");
      const int after = std::stoi(before.value_or("0")) + 1;
      if (store->compare_and_set({"counter", std::to_string(after)}, before)) told.push_back(after);
    } catch (const Error& error) {  // it is unknown whether it was set: look again
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
  RedisServer server;
  server.command("SET a 1");
  const auto store = when_available([&] { return open_store(server.unix_url() + "?timeout=100ms"); });
  ::kill(server.pid(), SIGSTOP);
  EXPECT_EQ(failure_of([&] { store->get("a"); }), ErrorKind::Unavailable);
  ::kill(server.pid(), SIGCONT);
  EXPECT_EQ(when_available([&] { return store->get("b"); }), std::nullopt)
      << "the late answer belongs to an earlier request";
}

}  // namespace
}  // namespace keysieve::test
