// Connections to a Redis server that are cut, and a full one.
#include <gmock/gmock.h>

#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/relay.hpp"
#include "tests/support/server_process.hpp"
#include "tests/support/soak.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/tools/transfer/shared_store.hpp"

namespace keysieve::test {
namespace {

// A store that goes away, hangs or drips bytes in the middle of a push and of a pull, after any number of
// bytes.

using How = RelayCut::How;

struct Cut {
  const char* name;
  How how;
  const char* timeout;
  std::uint64_t few_step;
  std::uint64_t all_step;
  bool is_encrypted = false;

  // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest calls it by this name
  friend void PrintTo(const Cut& cut, std::ostream* out) { *out << cut.name; }
};

const Cut kGoesAway{"goes_away", How::HangUp, "2m", 6'007, 97};
const Cut kHangs{"hangs", How::Stall, "100ms", 40'009, 997};
const Cut kDrips{"drips", How::Drip, "100ms", 40'009, 997};

class CutConnection : public ::testing::TestWithParam<Cut> {
 protected:
  // Works over a connection that is cut after one byte, then after more and more, until it is not cut any
  // more.
  template <typename Prepare, typename Check>
  void cut_everywhere(const Prepare& prepare, const Deed& deed, const Check& check) {
    const auto step =
        soak_rounds(static_cast<unsigned>(GetParam().few_step), static_cast<unsigned>(GetParam().all_step));
    unsigned cuts = 0;
    for (std::uint64_t at = 1; !HasFailure();) {
      prepare();
      const std::string when = "cut after " + std::to_string(at) + " bytes";
      const std::string relayed = is_encrypted_ ? std::to_string(free_port()) : directory_ / "relay";
      Relay relay(relayed, is_encrypted_ ? std::to_string(redis_.port()) : redis_.socket_path(),
                  RelayCut{at, GetParam().how});
      const std::string name = (is_encrypted_ ? "rediss://127.0.0.1:" : "redis+unix://") + relayed;
      const std::string url = with_parameter(name, std::string("timeout=") + GetParam().timeout);
      const auto failure =
          failure_of([&] { deed(*open_store(is_encrypted_ ? of_our_authority(url) : url)); });
      EXPECT_EQ(failure.value_or(ErrorKind::Unavailable), ErrorKind::Unavailable) << when;
      check(!failure, when);
      if (!failure && !relay.was_cut()) break;
      if (!relay.was_cut()) continue;  // the machine was too slow for the short timeout: once more
      at += step;
      ++cuts;
    }
    EXPECT_GT(cuts, 1U);
    soak_report(cuts, "cuts");
  }

  TemporaryDirectory directory_{fast_folder()};
  const bool is_encrypted_ = GetParam().is_encrypted;
  RedisServer& redis_ = is_encrypted_ ? shared_redis_over_tls() : shared_redis();
  std::unique_ptr<Store> store_ = open_store(redis_.unix_url());
};

TEST_P(CutConnection, DuringAPushLeavesTheOldOrTheNewGeneration) {
  cut_everywhere(
      [&] {
        redis_.command("FLUSHALL");
        pushing(0)(*store_);
      },
      pushing(1),
      [&](bool is_done, const std::string& when) {
        expect_usable(*store_, when);
        const std::uint64_t generation = read_pointer(*store_, "tags")->current->generation;
        EXPECT_TRUE(generation == 2 || !is_done) << when;
        pushing(1)(*store_);
        const Pulled pulled = pull(*store_, "tags");
        EXPECT_EQ(pulled.record.generation, 2U) << when;
        EXPECT_TRUE(std::ranges::equal(pulled.snapshot.get(), numbered_snapshot(1).get())) << when;
        expect_nothing_else_after_a_day(*store_, when);
      });
}

TEST_P(CutConnection, DuringAPullGivesAllOrNothing) {
  redis_.command("FLUSHALL");
  pushing(0)(*store_);
  bool is_whole = false;
  cut_everywhere([&] { is_whole = false; },
                 [&](Store& store) {
                   const Pulled pulled = pull(store, "tags");
                   is_whole = std::ranges::equal(pulled.snapshot.get(), numbered_snapshot(0).get());
                 },
                 [&](bool is_done, const std::string& when) { EXPECT_EQ(is_done, is_whole) << when; });
}

std::string cut_name(const ::testing::TestParamInfo<Cut>& of) {
  return of.param.name;
}
INSTANTIATE_TEST_SUITE_P(Cuts, CutConnection, ::testing::Values(kGoesAway, kHangs, kDrips), cut_name);
#ifdef KEYSIEVE_REDIS_TLS
Cut over_tls(Cut cut, const char* name) {
  cut.name = name;
  cut.is_encrypted = true;
  return cut;
}
INSTANTIATE_TEST_SUITE_P(OverTls, CutConnection,
                         ::testing::Values(over_tls(kGoesAway, "goes_away_over_tls"),
                                           over_tls(kHangs, "hangs_over_tls"),
                                           over_tls(kDrips, "drips_over_tls")),
                         cut_name);
#endif

// A full Redis, which refuses writes.

std::uint64_t used_memory(const RedisServer& redis) {
  return info_of(redis, "memory", "used_memory:");
}

// The room grows from none to enough, in steps that are smaller than a chunk.
TEST(FullRedis, RefusesAPushAndKeepsTheOldGeneration) {
  RedisServer redis;
  const auto store = open_store(redis.unix_url());
  const std::uint64_t step = soak_rounds(40'000, 2'000);
  unsigned refusals = 0;
  for (std::uint64_t room = 1;; room += step, ++refusals) {
    redis.command("CONFIG SET maxmemory 0");
    redis.command("FLUSHALL");
    pushing(0)(*store);
    redis.command("CONFIG SET maxmemory " + std::to_string(used_memory(redis) + room));
    const auto failure = failure_of([&] { pushing(1)(*store); });
    if (!failure) break;
    EXPECT_EQ(failure, ErrorKind::CannotCreate);
    redis.command("CONFIG SET maxmemory 0");
    expect_usable(*store, "refused");
    EXPECT_EQ(read_pointer(*store, "tags")->current->generation, 1U);
    pushing(1)(*store);
    expect_nothing_else_after_a_day(*store, "refused");
  }
  EXPECT_GT(refusals, 1U);
  soak_report(refusals, "refusals");
}

}  // namespace
}  // namespace keysieve::test
