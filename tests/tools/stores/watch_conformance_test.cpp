// What every store that notifies of changes must do. Runs over each of them.
#include <thread>

#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/tools/stores/store_conformance.hpp"

namespace keysieve::test {
namespace {

const std::string kOtherLog = "keysieve:shop:adds";
// How long nothing may come when nothing should.
constexpr std::chrono::milliseconds kQuiet{50};

class WatchConformance : public StoreConformance {
 protected:
  // Arms the watch with everything that has come so far.
  static void arm_at_end(StoreWatch& watch, Store& store, const std::vector<std::string>& logs = {kLog}) {
    std::vector<WatchedLog> watched;
    for (const std::string& log : logs) watched.push_back({log, store.end_of(log)});
    watch.arm(watched);
  }

  // A watch that is armed, with everything that has come so far taken.
  static std::unique_ptr<StoreWatch> quiet_watch(Store& store) {
    auto watch = store.watch();
    do arm_at_end(*watch, store);
    while (!wait(*watch, kQuiet).empty());
    return watch;
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, WatchConformance, every_store_and_sentinel, store_kind_name);
#ifdef KEYSIEVE_REDIS_TLS
INSTANTIATE_TEST_SUITE_P(OverTls, WatchConformance, every_redis_over_tls, store_kind_name);
#endif

TEST_P(WatchConformance, IsQuietWhileNothingChanges) {
  const auto store = open();
  const LogPosition last = append(*store, {"a"});
  const auto watch = quiet_watch(*store);
  EXPECT_EQ(store->end_of(kLog), last);
  store->get("keysieve:tags:current");
  store->read_after(kLog, {}, 10);
  open()->keys_with_prefix("");
  EXPECT_THAT(wait(*watch, kQuiet), IsEmpty());
  EXPECT_THAT(watch->take(), IsEmpty()) << "and does not wait";
}

TEST_P(WatchConformance, WakesWhenAnotherClientAppendsAndAgainWhenArmedAgain) {
  const auto store = open();
  const auto watch = [this] { return quiet_watch(*open()); }();  // it outlives its store
  for (int i = 0; i < 3; ++i) {
    append(*open(), {"a"});
    EXPECT_THAT(wait(*watch), Contains(kLog));
    arm_at_end(*watch, *store);
  }
}

// Does what a writer does after changing records of a set. Redis needs the notice, other stores wake
// without it.
TEST_P(WatchConformance, WakesWhenARecordHasChangedOrIsRemoved) {
  const auto store = open();
  const auto watch = quiet_watch(*store);
  const auto writer = open();
  put(*writer, "keysieve:tags:current", "1");
  writer->notify(kLog);
  EXPECT_THAT(wait(*watch), Contains(kLog));
  arm_at_end(*watch, *store);
  ASSERT_TRUE(writer->compare_and_set({"keysieve:tags:current", "2"}, "1"));
  writer->notify(kLog);
  EXPECT_THAT(wait(*watch), Contains(kLog));
  arm_at_end(*watch, *store);
  remove_record(*writer, "keysieve:tags:current");
  writer->notify(kLog);
  EXPECT_THAT(wait(*watch), Contains(kLog));
}

TEST_P(WatchConformance, ReportsAnyOfManyLogs) {
  const auto store = open();
  const auto watch = store->watch();
  arm_at_end(*watch, *store, {kLog, kOtherLog});
  while (!wait(*watch, kQuiet).empty()) arm_at_end(*watch, *store, {kLog, kOtherLog});
  append(*open(), {"a"}, kOtherLog);
  EXPECT_THAT(wait(*watch), Contains(kOtherLog));
}

TEST_P(WatchConformance, WakesForWhatCameBeforeItWasArmed) {
  const auto store = open();
  const LogPosition seen = append(*store, {"a"});
  append(*store, {"b"});
  const auto watch = store->watch();
  arm(*watch, {{kLog, seen}});
  EXPECT_THAT(wait(*watch), Contains(kLog));
}

TEST_P(WatchConformance, WakesForALogThatIsArmedLater) {
  const auto store = open();
  const LogPosition seen = store->end_of(kOtherLog);
  const auto watch = store->watch();
  arm_at_end(*watch, *store, {kLog});
  append(*store, {"b"}, kOtherLog);
  while (!wait(*watch, kQuiet).empty()) arm_at_end(*watch, *store, {kLog});
  arm(*watch, {{kLog, store->end_of(kLog)}, {kOtherLog, seen}});
  EXPECT_THAT(wait(*watch), Contains(kOtherLog));
}

// Sleeps until it is woken, looks, and sleeps again. If a wake-up were lost, or came before the entry could
// be seen, it would not see the entry before the next wake-up.
TEST_P(WatchConformance, LosesNoWakeUpBetweenLooks) {
  constexpr int kRounds = 200;
  std::atomic<int> seen_count = 0;
  std::thread writer([&] {
    const auto store = open();
    for (int i = 0; i < kRounds; ++i) {
      append(*store, {std::to_string(i)});
      if (!eventually([&] { return seen_count > i; })) return;  // like a follower that is done
    }
  });
  const auto store = open();
  const auto watch = store->watch();
  LogPosition seen{};
  bool woken = true;
  while (woken && seen_count < kRounds) {
    for (const LogEntry& entry : store->read_after(kLog, seen, 10)) {
      seen = entry.position;
      ++seen_count;
    }
    arm(*watch, {{kLog, seen}});
    woken = seen_count == kRounds || !wait(*watch).empty();
  }
  EXPECT_EQ(seen_count, kRounds);
  writer.join();
}

}  // namespace
}  // namespace keysieve::test
