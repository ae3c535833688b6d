// What every store must do with records. Runs over each store.
#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/store_kinds.hpp"

namespace keysieve::test {
namespace {

class RecordConformance : public StoreConformance {};

INSTANTIATE_TEST_SUITE_P(Stores, RecordConformance, ::testing::ValuesIn(kStoreKinds), store_kind_name);

TEST_P(RecordConformance, GivesBackTheValueThatWasPutLastAndNothingBefore) {
  std::string all_bytes(256, '\0');
  std::iota(all_bytes.begin(), all_bytes.end(), '\0');
  const auto store = open();
  EXPECT_EQ(store->get("keysieve:seed"), std::nullopt);
  for (const std::string& value : {std::string(100, 'x'), std::string("shorter"), std::string(), all_bytes,
                                   std::string(kMaxValueBytes, '\xff')}) {
    put(*store, "keysieve:seed", value);
    EXPECT_TRUE(store->get("keysieve:seed") == value) << value.size();
  }
}

TEST_P(RecordConformance, KeepsEveryAllowedKeyApart) {
  std::vector<Record> records{{std::string(kMaxRecordKeyBytes, 'k'), "the longest"}};
  for (const char* key : {".", "..", "...", ".lock", "a", "A", "a.b", "a:b", "a-b", "a_b", "a:", ":a", "-",
                          "keysieve:tags:0", "keysieve:tags:00", "%2E", "a%b", "put-file"}) {
    records.push_back({key, std::string("value of ") + key});
  }
  const auto store = open();
  store->put_many(records);
  for (const Record& record : records) EXPECT_EQ(store->get(record.key), record.value);
}

TEST_P(RecordConformance, ReturnsManyLargeAndSmallInTheOrderOfTheRequest) {
  const auto store = open();
  std::vector<Record> records;
  std::vector<std::string> keys;
  for (int i = 0; i < 300; ++i) {  // several pipelines
    keys.push_back("key" + std::to_string(i));
    const std::string value =
        i % 2 == 0 ? std::string(kMaxValueBytes, static_cast<char>(i)) : std::to_string(i);
    if (i % 3 != 0) records.push_back({keys.back(), value});
  }
  store->put_many(records);
  const auto values = store->get_many(keys);
  ASSERT_EQ(values.size(), keys.size());
  auto record = records.begin();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_TRUE(values[i] == (i % 3 == 0 ? std::nullopt : std::optional((record++)->value))) << keys[i];
  }
  store->put_many({});
  store->remove_many({});
  EXPECT_TRUE(store->get_many({}).empty());
}

TEST_P(RecordConformance, ReplacesOnlyTheExpectedValue) {
  const auto store = open();
  EXPECT_FALSE(store->compare_and_set({"a", "new"}, "old"));
  EXPECT_EQ(store->get("a"), std::nullopt);
  EXPECT_TRUE(store->put_if_absent({"a", "first"}));
  EXPECT_FALSE(store->put_if_absent({"a", "second"}));
  EXPECT_FALSE(store->compare_and_set({"a", "second"}, "firs"));
  EXPECT_EQ(store->get("a"), "first");
  EXPECT_TRUE(store->compare_and_set({"a", "second"}, "first"));
  EXPECT_EQ(store->get("a"), "second");
}

TEST_P(RecordConformance, RemovesManyAndSkipsMissingKeys) {
  const auto store = open();
  put(*store, "a", "1");
  put(*store, "b", "2");
  put(*store, "c", "3");
  const std::vector<std::string> keys{"a", "nowhere", "c"};
  store->remove_many(keys);
  const std::vector<std::string> all{"a", "b", "c"};
  EXPECT_THAT(store->get_many(all), ElementsAre(std::nullopt, Optional(std::string("2")), std::nullopt));
}

TEST_P(RecordConformance, ShowsARecordToOtherClientsAtOnceAndAfterItWasClosed) {
  const auto writer = open();
  const auto reader = open();
  put(*writer, "a", "1");
  EXPECT_EQ(reader->get("a"), "1");
  put(*writer, "a", "2");
  EXPECT_EQ(reader->get("a"), "2");
  put(*open(), "a", "3");
  EXPECT_EQ(open()->get("a"), "3");
}

TEST_P(RecordConformance, HasThePrefixOfItsUrlAndItsNameWithoutTheQuery) {
  EXPECT_EQ(open()->prefix(), "keysieve");
  EXPECT_EQ(opener_of(with_parameter(url_, "prefix=shop"))(IfMissing::Create, Patience::None)->name(),
            store_name(url_));
  EXPECT_EQ(open_with("prefix=Shop_1.a-b")->prefix(), "Shop_1.a-b");
}

TEST_P(RecordConformance, WatchesIfItsAbilitiesSaySo) {
  const auto store = open();
  EXPECT_EQ(store->watch() != nullptr, store->abilities().watch);
}

// Adds one to a counter so many times; retries every lost race.
void count_up(const StoreKind& kind, const std::string& url, int times) {
  const auto store = kind.open(url);
  while (times > 0) {
    const auto before = store->get("counter");
    const std::string after = std::to_string(std::stoi(before.value_or("0")) + 1);
    if (store->compare_and_set({"counter", after}, before)) --times;
  }
}

TEST_P(RecordConformance, LosesNoUpdateOfRacingProcesses) {
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    children.push_back(start_process([this] {
      count_up(GetParam(), url_, 25);
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  EXPECT_EQ(open()->get("counter"), "75");
}

// Rules for every store that reports changes.

// How long nothing may come when nothing should.
constexpr std::chrono::milliseconds kQuiet{50};

class WatchConformance : public StoreConformance {
 protected:
  // With everything that has come so far taken.
  static std::unique_ptr<StoreWatch> quiet_watch(Store& store) {
    auto watch = store.watch();
    while (!wait(*watch, kQuiet).empty()) {
    }
    return watch;
  }
  static bool wakes(StoreWatch& watch, const std::string& set_name = "tags") {
    return std::ranges::any_of(wait(watch),
                               [&](const std::string& name) { return may_concern(name, set_name); });
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, WatchConformance, ::testing::ValuesIn(stores_that({.watch = true})),
                         store_kind_name);

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

TEST_P(WatchConformance, WakesEachTimeAnotherClientAppends) {
  const auto watch = [this] { return quiet_watch(*open()); }();  // it outlives its store
  for (int i = 0; i < 3; ++i) {
    append(*open(), {"a"});
    EXPECT_TRUE(wakes(*watch));
  }
  append(*open(), {"a"}, "keysieve:seen.d:clicks:log");
  EXPECT_TRUE(wakes(*watch, "clicks"));
}

TEST_P(WatchConformance, WakesWhenARecordIsPutReplacedOrRemoved) {
  const std::string pointer = "keysieve:tags:current";
  const auto watch = quiet_watch(*open());
  const auto writer = open();
  put(*writer, pointer, "1");
  EXPECT_TRUE(wakes(*watch));
  ASSERT_TRUE(writer->compare_and_set({pointer, "2"}, "1"));
  EXPECT_TRUE(wakes(*watch));
  remove_record(*writer, pointer);
  EXPECT_TRUE(wakes(*watch));
  writer->put_many(records_of({"keysieve:tags:current", "keysieve:tags:bypass"}, "3"));
  EXPECT_TRUE(wakes(*watch));
  put(*writer, "keysieve:bypass", "4");
  EXPECT_TRUE(wakes(*watch)) << "it is of all sets";
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
    woken = seen_count == kRounds || !wait(*watch).empty();
  }
  EXPECT_EQ(seen_count, kRounds);
  writer.join();
}

TEST(MayConcern, SaysOfAChangeWhichSetsItMayBeOf) {
  for (const char* changed :
       {"", "keysieve:", "keysieve:bypass", "keysieve:tags:adds", "keysieve:seen.d:tags:log"}) {
    EXPECT_TRUE(may_concern(changed, "tags")) << changed;
  }
  for (const char* changed :
       {"keysieve:shop:adds", "keysieve:tags2:adds", "keysieve:seen.d:shop:log", "keysieve:tags:0123:7"})
    EXPECT_FALSE(may_concern(changed, "tags")) << changed;
}

}  // namespace
}  // namespace keysieve::test
