// A full Redis, which refuses writes or evicts records.

#include "core/builder/base/random.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/soak.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"
#include "tests/tools/transfer/shared_store.hpp"

namespace keysieve::test {
namespace {

std::uint64_t used_memory(const RedisServer& redis) {
  return info_of(redis, "memory", "used_memory:");
}

// The room grows from none to enough, in steps that are smaller than a chunk.
TEST(FullRedis, RefusesAPushAndKeepsTheOldGeneration) {
  RedisServer redis;
  const auto store = open_store(redis.unix_url());
  const std::uint64_t step = soak_rounds(40'000, 2'000);
  unsigned refusals = 0;
  std::string message;
  for (std::uint64_t room = 1;; room += step, ++refusals) {
    redis.command("CONFIG SET maxmemory 0");
    redis.command("FLUSHALL");
    pushing(0)(*store);
    redis.command("CONFIG SET maxmemory " + std::to_string(used_memory(redis) + room));
    message = message_of<ErrorKind::CannotCreate>([&] { pushing(1)(*store); });
    if (message.empty()) break;
    EXPECT_THAT(message, AllOf(HasSubstr(redis.unix_url() + ": keysieve:tags:"), HasSubstr("OOM")));
    redis.command("CONFIG SET maxmemory 0");
    expect_usable(*store, message);
    EXPECT_EQ(read_pointer(*store, "tags")->current->generation, 1U);
    pushing(1)(*store);
    expect_nothing_else_after_a_day(*store, message);
  }
  EXPECT_GT(refusals, 1U);
  soak_report("full Redis (noeviction): " + std::to_string(refusals) +
              " pushes refused, the old generation kept each time");
}

class EvictingRedis : public SetRefresherTest {
 protected:
  // Other users of the server write until one of our records is gone.
  void evict() {
    const std::size_t before = open_store(url_)->keys_with_prefix("keysieve:").size();
    redis_.command("CONFIG SET maxmemory " + std::to_string(used_memory(redis_) + 100'000));
    for (int i = 0; open_store(url_)->keys_with_prefix("keysieve:").size() == before; ++i) {
      for (int j = 0; j < 5; ++j) {
        redis_.command("SETRANGE other" + std::to_string(i) + "-" + std::to_string(j) + " 4000 x");
      }
    }
    redis_.command("CONFIG SET maxmemory 0");
    redis_.command("EVAL \"for _, k in ipairs(redis.call('KEYS', 'other*')) do redis.call('DEL', k) end\" 0");
  }

  RedisServer redis_{{"--maxmemory-policy", "allkeys-random"}};
};

// The live set stays, with all added keys, whether pointer, chunks or seed are evicted. Without the log, all
// is maybe until the next build.
TEST_F(EvictingRedis, LosesNoLiveKey) {
  url_ = redis_.unix_url();
  const unsigned rounds = soak_rounds(5, 300);
  unsigned refused = 0;
  int keys = 1000;
  site_.push("tags", {0, keys}, url_);
  ASSERT_EQ(trouble(), Trouble::None);
  for (unsigned round = 0; round < rounds && !HasFailure(); ++round) {
    site_.add("tags", {keys, 10}, url_);
    refresh();
    const int live_keys = keys + 10;
    site_.push_begun_now("tags", {0, live_keys}, url_);
    evict();
    const RefreshOutcome& outcome = refresh();
    if (outcome.trouble != Trouble::None) {
      ++refused;
      EXPECT_NE(outcome.reason, "");
    }
    const bool has_log = open_store(url_)->end_of("keysieve:tags:adds") != LogPosition{};
    EXPECT_EQ(site_.knows("tags", {0, live_keys}), has_log) << round << ": " << outcome.reason;
    keys = live_keys;
    site_.push_begun_now("tags", {0, keys}, url_);
    EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
    EXPECT_TRUE(site_.knows("tags", {0, keys})) << round;
  }
  soak_report("Redis evicts records: " + std::to_string(rounds) + " times, " + std::to_string(refused) +
              " times the loader had to refuse; nothing lost, the next push followed each time");
}

}  // namespace
}  // namespace keysieve::test
