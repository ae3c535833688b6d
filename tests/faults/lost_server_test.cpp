// A Redis server that is killed and started again, under a push and under keysieved.
#include <gmock/gmock.h>

#include <random>

#include "tests/support/forked.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/soak.hpp"
#include "tests/tools/loader/keysieved_fixture.hpp"
#include "tests/tools/transfer/shared_store.hpp"

namespace keysieve::test {
namespace {

// The server has every write that it confirmed on its disk.
TEST(LostServer, DuringAPushHasTheOldOrTheNewGeneration) {
  RedisServer redis({"--appendonly", "yes", "--appendfsync", "always"});
  pushing(0)(*open_store(redis.unix_url()));
  std::mt19937 random(1);
  const unsigned rounds = soak_rounds(4, 300);
  unsigned interrupted = 0;
  for (unsigned round = 0; round < rounds && !HasFailure(); ++round) {
    const std::string when = "round " + std::to_string(round);
    const std::size_t number = 1 + round % 2;
    const pid_t pusher = start_process([&] {
      pushing(number)(*open_store(redis.unix_url()));
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 12'000));
    redis.kill();
    const bool is_done = wait_for(pusher) == 0;
    if (!is_done) ++interrupted;
    redis.start();
    ASSERT_TRUE(eventually([&] { return redis.command("PING") == "+PONG"; }))
        << "it reads what is on the disk";
    const auto store = open_store(redis.unix_url());
    expect_usable(*store, when);
    const auto is_current = [&] {
      return std::ranges::equal(pull(*store, "tags").snapshot.get(), numbered_snapshot(number).get());
    };
    EXPECT_TRUE(is_current() || !is_done) << when;
    pushing(number)(*store);
    EXPECT_TRUE(is_current()) << when;
    expect_nothing_else_after_a_day(*store, when);
  }
  soak_report("Redis killed in the middle of a push and started again: " + std::to_string(rounds) +
              " times, " + std::to_string(interrupted) + " pushes interrupted; old or new each time");
}

class LostServerUnderKeysieved : public Keysieved {};

// The server comes back empty each time.
TEST_F(LostServerUnderKeysieved, IsFoundAgain) {
  RedisServer redis;
  const std::string url = redis.unix_url();
  site_.configure(tags_set, url + "?timeout=2m");
  int keys = 1000;
  site_.push("tags", {0, keys}, url);
  start();
  ASSERT_TRUE(follows("tags", 1)) << log();
  const unsigned rounds = soak_rounds(3, 200);
  for (unsigned round = 0; round < rounds && !HasFailure(); ++round) {
    site_.add("tags", {keys, 10}, url);
    EXPECT_TRUE(eventually([&] { return site_.knows("tags", {0, keys + 10}); })) << log();
    keys += 10;
    redis.kill();
    EXPECT_TRUE(eventually([&] {
      return keysieved_->lines_with("the store is unreachable: " + url) > int(round);
    })) << log();
    EXPECT_TRUE(site_.knows("tags", {0, keys})) << log();
    redis.start();
    keys += 10;
    site_.push("tags", {0, keys}, url);
    EXPECT_TRUE(eventually([&] { return site_.live("tags")->key_count == static_cast<std::uint64_t>(keys); }))
        << log();
    EXPECT_FALSE(site_.knows("tags", {0, keys})) << "all is maybe, as added keys are lost";
    site_.push_begun_now("tags", {0, ++keys}, url);
    EXPECT_TRUE(eventually([&] { return site_.knows("tags", {0, keys}); })) << log();
  }
  soak_report("Redis killed under keysieved and started again, empty: " + std::to_string(rounds) +
              " times; followed again each time, no key lost");
}

}  // namespace
}  // namespace keysieve::test
