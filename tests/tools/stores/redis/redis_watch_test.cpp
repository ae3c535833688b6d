// What is particular to a watch in Redis: it is a blocking read on a connection of its own.
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/when_available.hpp"
#include "tools/stores/redis/redis_connection.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr int kPatienceMs = 120'000;  // of a loaded machine
constexpr int kNothingComesMs = 50;

bool becomes_readable(const StoreWatch& watch, int patience_ms = kPatienceMs) {
  std::vector<pollfd> polled;
  for (const int descriptor : watch.descriptors()) polled.push_back({descriptor, POLLIN, 0});
  return ::poll(polled.data(), polled.size(), patience_ms) > 0;
}

class RedisWatch : public ::testing::Test {
 protected:
  static std::unique_ptr<StoreWatch> watch_of(const std::string& url) { return open_store(url)->watch(); }

  // The identity of the one client that waits in a blocking read; empty when there is none.
  std::string blocked_client() {
    RedisConnection connection(
        {"test", "127.0.0.1", server_.port(), "", "", "", 0, std::chrono::seconds(120)});
    const RedisReply reply = connection.exchange({"CLIENT", "LIST"});
    std::string found;
    for (std::string_view rest = text_of(*reply); !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (line.find("cmd=xread") == std::string_view::npos) continue;
      EXPECT_EQ(found, "") << "more than one client is blocked";
      found = line.substr(0, line.find(' '));
    }
    return found;
  }

  test::RedisServer server_;
};

TEST_F(RedisWatch, WaitsForAllLogsOnOneConnection) {
  const auto watch = watch_of(server_.tcp_url());
  const std::vector<WatchedLog> logs{{"a", {}}, {"b", {}}, {"c", {}}};
  watch->arm(logs);
  EXPECT_FALSE(becomes_readable(*watch, kNothingComesMs));
  EXPECT_NE(blocked_client(), "");
  server_.command("XADD b * key x");
  ASSERT_TRUE(becomes_readable(*watch));
  EXPECT_THAT(watch->take(), ElementsAre("b"));
}

TEST_F(RedisWatch, TellsAtOnceWhatCameBeforeItWasArmed) {
  server_.command("XADD a 5-0 key x");
  server_.command("XADD b 6-0 key x");
  server_.command("XADD c 7-0 key x");
  const auto watch = watch_of(server_.tcp_url());
  const std::vector<WatchedLog> logs{{"a", log_position(4, 9)}, {"b", log_position(6, 0)}, {"c", {}}};
  watch->arm(logs);
  ASSERT_TRUE(becomes_readable(*watch));
  EXPECT_THAT(watch->take(), UnorderedElementsAre("a", "c"));
}

TEST_F(RedisWatch, GoesOnWaitingWhereMoreWasSeenMeanwhile) {
  const auto watch = watch_of(server_.tcp_url());
  std::vector<WatchedLog> logs{{"a", log_position(5, 0)}, {"b", {}}};
  watch->arm(logs);
  const std::string client = blocked_client();
  logs[1].seen = log_position(9, 0);
  watch->arm(logs);
  EXPECT_EQ(blocked_client(), client);
  server_.command("XADD a 6-0 key x");
  ASSERT_TRUE(becomes_readable(*watch));
  EXPECT_THAT(watch->take(), ElementsAre("a"));
}

TEST_F(RedisWatch, WaitsFromAnEarlierPositionWhereTheServerHasLostEntries) {
  const auto watch = watch_of(server_.tcp_url());
  std::vector<WatchedLog> logs{{"a", log_position(5, 0)}};
  watch->arm(logs);
  server_.command("XADD a 3-0 key x");
  EXPECT_FALSE(becomes_readable(*watch, kNothingComesMs));
  logs[0].seen = LogPosition{};
  watch->arm(logs);
  ASSERT_TRUE(becomes_readable(*watch));
  EXPECT_THAT(watch->take(), ElementsAre("a"));
}

TEST_F(RedisWatch, WaitsForOtherLogsWhenArmedWithThem) {
  const auto watch = watch_of(server_.tcp_url());
  const std::vector<WatchedLog> before{{"a", {}}, {"b", {}}};
  watch->arm(before);
  const std::vector<WatchedLog> after{{"b", {}}, {"c", {}}};
  watch->arm(after);
  server_.command("XADD a * key x");
  EXPECT_FALSE(becomes_readable(*watch, kNothingComesMs));
  server_.command("XADD c * key x");
  ASSERT_TRUE(becomes_readable(*watch));
  EXPECT_THAT(watch->take(), ElementsAre("c"));
  watch->arm({});
  EXPECT_TRUE(watch->descriptors().empty());
  EXPECT_THAT(watch->take(), IsEmpty());
}

TEST_F(RedisWatch, IsArmedAnewOverTheSameConnection) {
  const auto watch = watch_of(server_.tcp_url());
  std::vector<WatchedLog> logs{{"a", {}}};
  watch->arm(logs);
  const std::string client = blocked_client();
  server_.command("XADD a 1-0 key x");
  ASSERT_TRUE(becomes_readable(*watch));
  EXPECT_THAT(watch->take(), ElementsAre("a"));
  EXPECT_THAT(watch->take(), IsEmpty());
  logs[0].seen = log_position(1, 0);
  watch->arm(logs);
  EXPECT_EQ(blocked_client(), client);
  EXPECT_FALSE(becomes_readable(*watch, kNothingComesMs));
}

TEST_F(RedisWatch, TakesNothingWhenTheServerEndsAReadThatWasInVain) {
  const auto watch = watch_of(server_.tcp_url() + "?timeout=2m");
  const std::vector<WatchedLog> logs{{"a", {}}};
  for (int i = 0; i < 3; ++i) {
    watch->arm(logs);
    // As it does when the time is over; "id=7".
    EXPECT_EQ(server_.command("CLIENT UNBLOCK " + blocked_client().substr(3) + " TIMEOUT"), ":1");
    ASSERT_TRUE(becomes_readable(*watch));
    EXPECT_THAT(watch->take(), IsEmpty());
  }
  server_.command("XADD a * notice x");
  watch->arm(logs);
  ASSERT_TRUE(becomes_readable(*watch));
  EXPECT_THAT(watch->take(), ElementsAre("a"));
}

TEST_F(RedisWatch, TakesALargeKeyThatComesInPieces) {
  const auto store = open_store(server_.tcp_url());
  const auto watch = store->watch();
  const std::vector<WatchedLog> logs{{"a", {}}};
  watch->arm(logs);
  const std::string key(kMaxLoggedKeyBytes, 'x');
  store->append("a", std::span(&key, 1));
  std::vector<std::string> names;
  while (names.empty()) {
    ASSERT_TRUE(becomes_readable(*watch));
    names = watch->take();
  }
  EXPECT_THAT(names, ElementsAre("a"));
}

TEST_F(RedisWatch, NoticesThatTheServerIsGone) {
  const auto watch = watch_of(server_.tcp_url());
  const std::vector<WatchedLog> logs{{"a", {}}};
  watch->arm(logs);
  server_.kill();
  ASSERT_TRUE(becomes_readable(*watch));
  EXPECT_THAT(test::message_of<ErrorKind::Unavailable>([&] { watch->take(); }), HasSubstr(server_.tcp_url()));
  EXPECT_THAT([&] { watch->arm(logs); }, test::fails(ErrorKind::Unavailable));
}

TEST_F(RedisWatch, NoticesThatTheServerHangs) {
  const std::vector<WatchedLog> logs{{"a", {}}};
  const auto watch = test::when_available([&] {
    auto opened = watch_of(server_.tcp_url() + "?timeout=50ms");
    opened->arm(logs);
    return opened;
  });
  ::kill(server_.pid(), SIGSTOP);
  EXPECT_THAT(watch->take(), IsEmpty()) << "it may only have nothing to say";
  ASSERT_TRUE(becomes_readable(*watch));
  EXPECT_EQ(test::message_of<ErrorKind::Unavailable>([&] { watch->take(); }),
            server_.tcp_url() + ": no answer to a blocking read");
}

TEST_F(RedisWatch, RefusesALogOfAnotherType) {
  server_.command("SET a 1");
  const auto watch = watch_of(server_.tcp_url());
  const std::vector<WatchedLog> logs{{"a", {}}};
  watch->arm(logs);
  ASSERT_TRUE(becomes_readable(*watch));
  EXPECT_THAT([&] { watch->take(); }, test::fails(ErrorKind::Data));
}

}  // namespace
}  // namespace keysieve
