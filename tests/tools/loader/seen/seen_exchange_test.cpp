// Hosts with a store: what a reboot loses, and what hosts learn from each other.
#include "tools/loader/seen/seen_exchange.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/forked.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/tools/loader/seen/seen_host.hpp"

namespace keysieve::test {
namespace {

using ::testing::HasSubstr;

class SavedSeenSet : public ::testing::TestWithParam<StoreKind> {
 protected:
  // Of all sets.
  [[nodiscard]] std::size_t record_count() const {
    return open_store(url_)->keys_with_prefix("keysieve:seen.d:").size();
  }

  TemporaryDirectory folder_;
  std::string url_ = GetParam().empty_store(folder_);
};

TEST_P(SavedSeenSet, ARebootLosesWhatWasAddedSinceTheLastSaveAlone) {
  SeenHost host(clicks_config(), url_);
  host.look(kNoon);
  EXPECT_EQ(host.add_many(0, 500), 500U);
  host.look(kNoon + 10 * kMinute);
  EXPECT_EQ(host.add_many(500, 500), 500U);
  EXPECT_EQ(host.look(kNoon + 11 * kMinute).trouble, "");
  EXPECT_EQ(host.add_many(1'000, 10), 10U);
  const std::uint32_t filters = host.worker().attached().size();
  host.reboot();
  EXPECT_FALSE(host.worker().is_ready());

  host.start();
  EXPECT_EQ(host.look(kNoon + 12 * kMinute).trouble, "");
  EXPECT_EQ(host.add_many(0, 1'000), 0U);
  EXPECT_EQ(host.add_many(1'000, 10), 10U);
  EXPECT_EQ(host.worker().attached().size(), filters) << "the newest goes on";
  host.look(kNoon + 20 * kMinute);
  EXPECT_EQ(host.add_many(0, 500), 500U) << "their window is over";
}

// The loader was stopped when the window should have ended, and keys came in until it was back.
TEST_P(SavedSeenSet, ARebootForgetsNoWindowEarlyThatEndedLate) {
  SeenHost host(clicks_config(), url_);
  host.look(kNoon);
  host.stop();
  EXPECT_EQ(host.add_many(0, 100), 100U);
  host.start();
  host.look(kNoon + 25 * kMinute);
  host.reboot();
  host.start();
  host.look(kNoon + 34 * kMinute);
  EXPECT_EQ(host.add_many(0, 100), 0U);
  host.look(kNoon + 35 * kMinute);
  EXPECT_EQ(host.add_many(0, 100), 100U);
}

TEST_P(SavedSeenSet, WritesOnlyTheShardsThatHaveChanged) {
  SeenConfig config = clicks_config();
  config.keys = 100'000;
  SeenHost host(config, url_);
  host.look(kNoon);
  host.add(1);
  const std::uint64_t before = host.look(kNoon).shards_written;
  EXPECT_EQ(before, 1U);
  EXPECT_EQ(host.look(kNoon).shards_written, 1U);
  host.add(2);
  host.add(3);
  EXPECT_LE(host.look(kNoon).shards_written, 3U);
}

TEST_P(SavedSeenSet, RemovesTheRecordsOfWindowsThatAreOver) {
  SeenHost host(clicks_config(), url_);
  host.look(kNoon);
  host.add_many(0, 2'000);
  host.look(kNoon + kMinute);
  const std::size_t of_one_window = record_count();
  EXPECT_GT(of_one_window, 2U);
  for (int window = 1; window <= 5; ++window) {
    host.look(kNoon + window * 10 * kMinute);
    host.add_many(0, 2'000);
    host.look(kNoon + window * 10 * kMinute + 1);
  }
  EXPECT_LE(record_count(), 2 * of_one_window);
  host.stop();
  host.start();
  host.look(kNoon + 100 * kMinute);
  host.look(kNoon + 100 * kMinute + 1);
  EXPECT_EQ(record_count(), 1U) << "the list alone";
}

TEST_P(SavedSeenSet, TwoHostsLearnFromEachOther) {
  SeenHost web1(clicks_config("web1", {"web2"}), url_);
  SeenHost web2(clicks_config("web2", {"web1"}), url_);
  web1.look(kNoon);
  web2.look(kNoon);
  EXPECT_EQ(web1.add_many(0, 500), 500U);
  EXPECT_EQ(web2.add_many(500, 500), 500U);
  web1.look(kNoon + 1);
  EXPECT_EQ(web2.look(kNoon + 1).trouble, "");
  EXPECT_EQ(web1.look(kNoon + 2).trouble, "");
  EXPECT_EQ(web2.add_many(0, 1'000), 0U);
  EXPECT_EQ(web1.add_many(0, 1'000), 0U);

  // Until there is nothing new to tell.
  web2.look(kNoon + 3);
  web1.look(kNoon + 3);
  web2.look(kNoon + 4);
  const SeenReport before = web1.look(kNoon + 4);
  const SeenReport after = web1.look(kNoon + 5);
  EXPECT_EQ(after.shards_merged, before.shards_merged);
  EXPECT_EQ(after.shards_written, before.shards_written);
}

TEST_P(SavedSeenSet, AWindowThatGrowsOnOneHostGrowsOnTheOther) {
  SeenHost web1(clicks_config("web1", {"web2"}), url_);
  SeenHost web2(clicks_config("web2", {"web1"}), url_);
  web1.look(kNoon);
  web2.look(kNoon);
  for (std::uint64_t first = 0; first < 3'000; first += 100) {
    web1.add_many(first, 100);
    web1.look(kNoon + 1);
  }
  EXPECT_EQ(web2.look(kNoon + 2).trouble, "");
  EXPECT_EQ(web2.worker().attached().size(), 2U);
  EXPECT_EQ(web2.add_many(0, 3'000), 0U);
  EXPECT_EQ(web2.look(kNoon + 3).trouble, "");
  const SeenPage& page = *web2.worker().page();
  EXPECT_EQ(page.entry(1).plan.window, page.entry(0).plan.window);
}

TEST_P(SavedSeenSet, ANewHostBeginsWithWhatTheOthersHaveSeen) {
  SeenHost web1(clicks_config("web1", {"web2"}), url_);
  web1.look(kNoon);
  EXPECT_EQ(web1.add_many(0, 500), 500U);
  web1.look(kNoon + 10 * kMinute);
  SeenHost web2(clicks_config("web2", {"web1"}), url_);
  EXPECT_EQ(web2.look(kNoon + 10 * kMinute).trouble, "");
  EXPECT_EQ(web2.add_many(0, 500), 0U);
}

// The loader alone, or the whole host.
TEST_P(SavedSeenSet, AHostLearnsWhatTheOthersHaveSeenInWindowsThatItHasMissed) {
  SeenConfig one = clicks_config("web1", {"web2"});
  one.windows = 4;
  SeenConfig two = clicks_config("web2", {"web1"});
  two.windows = 4;
  SeenHost web1(one, url_);
  SeenHost web2(two, url_);
  web1.look(kNoon);
  web2.look(kNoon);
  for (const bool is_reboot : {false, true}) {
    SCOPED_TRACE(is_reboot);
    const UnixSeconds begin = kNoon + (is_reboot ? 30 * kMinute : 0);
    const std::uint64_t first_key = is_reboot ? 10'000 : 0;
    web1.look(begin);
    is_reboot ? web1.reboot() : web1.stop();
    web2.look(begin + 10 * kMinute);
    EXPECT_EQ(web2.add_many(first_key, 500), 500U);
    web2.look(begin + 20 * kMinute);
    web1.start();
    web1.look(begin + 20 * kMinute);
    EXPECT_EQ(web1.look(begin + 20 * kMinute + 1).trouble, "");
    EXPECT_EQ(web1.add_many(first_key, 500), 0U);
    EXPECT_EQ(web2.look(begin + 20 * kMinute + 2).trouble, "");
    EXPECT_EQ(web2.add_many(first_key, 500), 0U);
  }
  web1.look(kNoon + 120 * kMinute);
  web1.look(kNoon + 180 * kMinute);
  EXPECT_EQ(web1.worker().attached().size(), 2U) << "all older ones are over";
}

// The running window keeps the sizes with which it began.
TEST_P(SavedSeenSet, AWindowThatGrowsAfterANewConfigurationOfAllHostsIsMerged) {
  SeenHost web1(clicks_config("web1", {"web2"}), url_);
  SeenHost web2(clicks_config("web2", {"web1"}), url_);
  web1.look(kNoon);
  web2.look(kNoon);
  for (SeenHost* host : {&web1, &web2}) {
    host->config().keys = 5'000;
    host->start();
    host->look(kNoon + 1);
  }
  for (std::uint64_t first = 0; first < 3'000; first += 100) {
    web2.add_many(first, 100);
    web2.look(kNoon + 2);
  }
  EXPECT_EQ(web1.look(kNoon + 3).trouble, "");
  EXPECT_EQ(web1.add_many(0, 3'000), 0U);
}

TEST_P(SavedSeenSet, AWindowThatGrowsAtItsVeryEndReachesTheOthers) {
  SeenHost web1(clicks_config("web1", {"web2"}), url_);
  SeenHost web2(clicks_config("web2", {"web1"}), url_);
  web1.look(kNoon);
  web2.look(kNoon);
  for (std::uint64_t first = 0; first < 3'000; first += 100) {
    web2.add_many(first, 100);
    web2.look(kNoon + 10 * kMinute - 1);
  }
  web1.look(kNoon + 10 * kMinute);
  EXPECT_EQ(web1.look(kNoon + 10 * kMinute + 1).trouble, "");
  EXPECT_EQ(web1.add_many(0, 3'000), 0U);
  EXPECT_EQ(web1.worker().attached().size(), 4U) << "the newest window must take the keys, so it has grown";
  EXPECT_EQ(web1.add_many(10'000, 10), 10U);
  web1.look(kNoon + 20 * kMinute);
  EXPECT_EQ(web1.count_of(10'000, 10), 10U);
  web1.look(kNoon + 30 * kMinute);
  EXPECT_EQ(web1.count_of(10'000, 10), 0U);
}

TEST_P(SavedSeenSet, AHostWithOtherFiltersKeepsNobodyElseFromBeingMerged) {
  SeenConfig two = clicks_config("web2");
  two.keys = 5'000;
  SeenHost web2(two, url_);
  SeenHost web3(clicks_config("web3"), url_);
  SeenHost web1(clicks_config("web1", {"web2", "web3"}), url_);
  web1.look(kNoon);
  web2.look(kNoon);
  web3.look(kNoon);
  web2.add(1);
  web3.add(2);
  web2.look(kNoon);
  web3.look(kNoon);
  EXPECT_EQ(web1.look(kNoon).trouble,
            "host web2 has other filters: keys, window, windows and fpr must be the same");
  EXPECT_TRUE(web1.add(1));
  EXPECT_FALSE(web1.add(2));
}

TEST_P(SavedSeenSet, IsSavedAgainWhenTheStoreHasLostIt) {
  SeenHost host(clicks_config(), url_);
  host.look(kNoon);
  EXPECT_EQ(host.add_many(0, 500), 500U);
  host.look(kNoon + 1);
  const auto store = open_store(url_);
  for (const std::string& key : store->keys_with_prefix("keysieve:seen.d:")) store->remove_many({&key, 1});
  EXPECT_EQ(host.look(kNoon + 2).trouble, "");
  host.reboot();
  host.start();
  EXPECT_EQ(host.look(kNoon + 3).shards_lost, 0U);
  EXPECT_EQ(host.add_many(0, 500), 0U);
}

TEST_P(SavedSeenSet, GoesOnWithoutTheShardsThatAreDamagedAndSaysHowMany) {
  SeenHost host(clicks_config(), url_);
  host.look(kNoon);
  host.add_many(0, 2'000);
  host.look(kNoon + 1);
  const auto store = open_store(url_);
  const Record damaged{store->keys_with_prefix("keysieve:seen.d:clicks:web1:").front(), "damaged"};
  store->put_many({&damaged, 1});
  host.reboot();
  host.start();
  EXPECT_EQ(host.look(kNoon + 2).shards_lost, 1U);
  EXPECT_GT(host.count_of(0, 2'000), 0U);
}

TEST_P(SavedSeenSet, IsSavedAgainWhenItsListIsDamaged) {
  SeenHost host(clicks_config(), url_);
  host.look(kNoon);
  EXPECT_EQ(host.add_many(0, 100), 100U);
  host.look(kNoon + 1);
  const Record damaged{"keysieve:seen.d:clicks:web1", "damaged"};
  open_store(url_)->put_many({&damaged, 1});
  host.start();
  EXPECT_EQ(host.look(kNoon + 2).trouble, "");
  host.reboot();
  host.start();
  EXPECT_EQ(host.look(kNoon + 3).trouble, "");
  EXPECT_EQ(host.add_many(0, 100), 0U);
}

INSTANTIATE_TEST_SUITE_P(Stores, SavedSeenSet, ::testing::Values(kLmdb, kDir, kRedisUnix), store_kind_name);

TEST(SeenSetWithoutItsStore, AnswersAsConfiguredUntilTheStoreSaysWhatItHolds) {
  RedisServer redis;
  SeenHost host(clicks_config(), redis.unix_url());
  host.look(kNoon);
  EXPECT_EQ(host.add_many(0, 100), 100U);
  host.look(kNoon + 1);
  redis.command("SAVE");
  redis.kill();
  host.reboot();
  host.start();
  EXPECT_THAT(host.look(kNoon + kMinute).trouble, HasSubstr(redis.unix_url()));
  EXPECT_FALSE(host.worker().is_ready());
  EXPECT_THAT(host.worker().reason(), HasSubstr("the loader waits for the store"));
  EXPECT_EQ(host.worker().on_unavailable(), OnUnavailable::Seen);
  redis.start();
  EXPECT_TRUE(eventually([&] { return host.look(kNoon + kMinute).trouble.empty(); }));
  EXPECT_EQ(host.add_many(0, 100), 0U);
}

TEST(SeenSetWithoutItsStore, GoesOnAndIsSavedLater) {
  RedisServer redis;
  SeenHost host(clicks_config(), redis.unix_url());
  host.look(kNoon);
  redis.kill();
  EXPECT_EQ(host.add_many(0, 100), 100U);
  EXPECT_THAT(host.look(kNoon + 10 * kMinute).trouble, HasSubstr(redis.unix_url()));
  EXPECT_EQ(host.add_many(0, 200), 100U);
  EXPECT_EQ(host.worker().attached().size(), 2U) << "windows follow the clock";
  redis.start();
  EXPECT_TRUE(eventually([&] { return host.look(kNoon + 11 * kMinute).trouble.empty(); }));
  host.reboot();
  host.start();
  host.look(kNoon + 12 * kMinute);
  EXPECT_EQ(host.add_many(0, 200), 0U);
}

TEST(SeenSetWithoutItsStore, SaysHowMuchTheStoreHasLost) {
  const TemporaryDirectory folder;
  const std::string url = "lmdb:" + folder / "lmdb";
  SeenHost host(clicks_config(), url);
  host.look(kNoon);
  host.add_many(0, 2'000);
  host.look(kNoon + 1);
  const auto store = open_store(url);
  std::vector<std::string> shards = store->keys_with_prefix("keysieve:seen.d:clicks:web1:");
  shards.resize(2);
  store->remove_many(shards);
  host.reboot();
  host.start();
  EXPECT_EQ(host.look(kNoon + 2).shards_lost, 2U);
  const std::uint64_t left = host.count_of(0, 2'000);
  EXPECT_GT(left, 0U);
  EXPECT_LT(left, 2'000U);
}

TEST(SavedFilters, AreReadAsTheyWereWritten) {
  SavedFilters saved{77, {}};
  for (std::uint32_t i = 0; i < kMaxSeenFilters; ++i) {
    SavedFilter filter;
    filter.plan = {{i, i + 1, i + 2}, i % kFiltersPerWindow, 1'000, 1e-5, {512, 10}};
    filter.version = i;
    filter.shards = 2;
    saved.filters.push_back(filter);
  }
  const std::string record = encode(saved);
  EXPECT_LE(record.size(), kMaxValueBytes);
  EXPECT_EQ(decode_saved_filters(record, "record"), saved);
}

TEST(SavedFilters, AreRefusedIfAnyByteIsWrong) {
  SavedFilter filter;
  filter.plan = {{1, 2, 3}, 0, 1'000, 1e-5, {512, 10}};
  const std::string record = encode(SavedFilters{77, {filter}});
  for (std::size_t i = 0; i < record.size(); ++i) {
    std::string damaged = record;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_THROW(decode_saved_filters(damaged, "record"), Error) << i;
    EXPECT_THROW(decode_saved_filters(record.substr(0, i), "record"), Error) << i;
  }
}

TEST(SavedFilters, AreRefusedIfNoLoaderWritesSuch) {
  const auto is_refused = [](const SeenSize& size, UnixSeconds ends, std::uint64_t capacity = 1'000,
                             double rate = 1e-5) {
    SavedFilter filter;
    filter.plan = {{1, ends, 3}, 0, capacity, rate, size};
    try {
      decode_saved_filters(encode(SavedFilters{77, {filter}}), "record");
      return false;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::Data;
    }
  };
  EXPECT_FALSE(is_refused({512, 10}, 2));
  EXPECT_TRUE(is_refused({0, 10}, 2));
  EXPECT_TRUE(is_refused({513, 10}, 2));
  EXPECT_TRUE(is_refused({2 * kMaxSeenWords, 10}, 2));
  EXPECT_TRUE(is_refused({512, 0}, 2));
  EXPECT_TRUE(is_refused({512, kMaxKeyBits + 1}, 2));
  EXPECT_TRUE(is_refused({512, 10}, -1));
  EXPECT_TRUE(is_refused({512, 10}, 2, 0));
  EXPECT_TRUE(is_refused({512, 10}, 2, 1'000, 0));
  EXPECT_TRUE(is_refused({512, 10}, 2, 1'000, 1));
  EXPECT_TRUE(is_refused({512, 10}, 2, 1'000, std::nan("")));
}

}  // namespace
}  // namespace keysieve::test
