// Behaviour of a watch in Redis only: it is a blocking read on its own connection.
#include <signal.h>

#include <algorithm>

#include "core/builder/base/log_positions.hpp"
#include "tests/support/canned_server.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/store_calls.hpp"
#include "tools/stores/redis/redis_connection.hpp"

namespace keysieve::test {
namespace {

constexpr std::chrono::milliseconds kNothingComes{50};

class RedisWatch : public ::testing::Test {
 protected:
  std::unique_ptr<StoreWatch> open(const std::string& query = "") {
    return open_store(server_.tcp_url() + query)->watch();
  }

  // Waits until something has come and returns it.
  static std::vector<std::string> taken_from(StoreWatch& watch) {
    return is_readable(watch) ? watch.take() : std::vector<std::string>{"nothing has come"};
  }
  std::vector<std::string> taken() { return taken_from(*watch_); }

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

  RedisServer server_;
  std::unique_ptr<StoreWatch> watch_ = open();
};

TEST_F(RedisWatch, WaitsForAllLogsOnOneConnection) {
  arm(*watch_, {{"a", {}}, {"b", {}}, {"c", {}}});
  EXPECT_FALSE(is_readable(*watch_, kNothingComes));
  EXPECT_NE(blocked_client(), "");
  server_.command("XADD b * key x");
  EXPECT_THAT(taken(), ElementsAre("b"));
}

TEST_F(RedisWatch, NamesNoLogThatItDoesNotWatch) {
  const CannedServer server("0-0\r\n", "*2\r\n*2\r\n$1\r\nx\r\n*0\r\n*2\r\n$1\r\na\r\n*0\r\n");
  const auto watch = open_store("redis://" + server.address() + "?timeout=2m")->watch();
  arm(*watch, {{"a", {}}});
  EXPECT_THAT(taken_from(*watch), ElementsAre("a"));
}

TEST_F(RedisWatch, KeepsWaitingWhenMoreWasSeenMeanwhile) {
  arm(*watch_, {{"a", log_position(5, 0)}, {"b", {}}});
  const std::string client = blocked_client();
  arm(*watch_, {{"a", log_position(5, 0)}, {"b", log_position(9, 0)}});
  EXPECT_EQ(blocked_client(), client);
  server_.command("XADD a 6-0 key x");
  EXPECT_THAT(taken(), ElementsAre("a"));
}

TEST_F(RedisWatch, WaitsFromAnEarlierPositionWhenTheServerHasLostEntries) {
  arm(*watch_, {{"a", log_position(5, 0)}});
  server_.command("XADD a 3-0 key x");
  EXPECT_FALSE(is_readable(*watch_, kNothingComes));
  arm(*watch_, {{"a", {}}});
  EXPECT_THAT(taken(), ElementsAre("a"));
}

TEST_F(RedisWatch, WaitsForOtherLogsWhenArmedWithThem) {
  arm(*watch_, {{"a", {}}, {"b", {}}});
  arm(*watch_, {{"b", {}}, {"c", {}}});
  server_.command("XADD a * key x");
  EXPECT_FALSE(is_readable(*watch_, kNothingComes));
  server_.command("XADD c * key x");
  EXPECT_THAT(taken(), ElementsAre("c"));
  arm(*watch_, {});
  EXPECT_TRUE(watch_->descriptors().empty());
  EXPECT_THAT(watch_->take(), IsEmpty());
}

TEST_F(RedisWatch, IsArmedAgainOverTheSameConnection) {
  arm(*watch_, {{"a", {}}});
  const std::string client = blocked_client();
  server_.command("XADD a 1-0 key x");
  EXPECT_THAT(taken(), ElementsAre("a"));
  EXPECT_THAT(watch_->take(), IsEmpty());
  arm(*watch_, {{"a", log_position(1, 0)}});
  EXPECT_EQ(blocked_client(), client);
  EXPECT_FALSE(is_readable(*watch_, kNothingComes));
}

TEST_F(RedisWatch, ReportsNothingWhenTheServerEndsAReadInVain) {
  const auto watch = open("?timeout=2m");
  for (int i = 0; i < 3; ++i) {
    arm(*watch, {{"a", {}}});
    // The server does this too when the time is over; "id=7".
    EXPECT_EQ(server_.command("CLIENT UNBLOCK " + blocked_client().substr(3) + " TIMEOUT"), ":1");
    EXPECT_THAT(taken_from(*watch), IsEmpty());
  }
  server_.command("XADD a * notice x");
  arm(*watch, {{"a", {}}});
  EXPECT_THAT(taken_from(*watch), ElementsAre("a"));
}

TEST_F(RedisWatch, TakesALargeKeyThatComesInPieces) {
  arm(*watch_, {{"a", {}}});
  append(*open_store(server_.tcp_url()), {std::string(kMaxLoggedKeyBytes, 'x')}, "a");
  std::vector<std::string> names;
  while (names.empty()) names = taken();
  EXPECT_THAT(names, ElementsAre("a"));
}

TEST_F(RedisWatch, NoticesThatTheServerIsGone) {
  arm(*watch_, {{"a", {}}});
  server_.kill();
  ASSERT_TRUE(is_readable(*watch_));
  EXPECT_THAT(message_of<ErrorKind::Unavailable>([&] { watch_->take(); }), HasSubstr(server_.tcp_url()));
  EXPECT_EQ(failure_of([&] { arm(*watch_, {{"a", {}}}); }), ErrorKind::Unavailable);
}

TEST_F(RedisWatch, NoticesThatTheServerHangs) {
  const auto watch = when_available([&] {
    auto opened = open("?timeout=50ms");
    arm(*opened, {{"a", {}}});
    return opened;
  });
  ::kill(server_.pid(), SIGSTOP);
  EXPECT_THAT(watch->take(), IsEmpty()) << "it may only have nothing to say";
  ASSERT_TRUE(is_readable(*watch));
  EXPECT_EQ(message_of<ErrorKind::Unavailable>([&] { watch->take(); }),
            server_.tcp_url() + ": no answer to a blocking read");
}

}  // namespace
}  // namespace keysieve::test
