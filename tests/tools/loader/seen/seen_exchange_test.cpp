// Hosts with a store: what a reboot loses, what hosts learn from each other, and what they send for it.
#include "tools/loader/seen/seen_exchange.hpp"
#include "core/builder/base/log_position.hpp"
#include "core/publisher/seen/new_segment.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <deque>
#include <random>

#include "tests/support/forked.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/tools/loader/seen/seen_host.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

const std::string kSeenLog = "keysieve:seen.d:clicks:log";
constexpr UnixSeconds kHour = 60 * kMinute;

class SavedSeenSet : public ::testing::TestWithParam<StoreKind> {
 protected:
  [[nodiscard]] std::vector<LogEntry> entries() const {
    return open_store(url_)->read_after(kSeenLog, LogPosition{}, 100'000);
  }

  TemporaryDirectory folder_;
  std::string url_ = GetParam().empty_store(folder_);
};

class TwoSeenHosts : public SavedSeenSet {
 protected:
  void look(UnixSeconds now) {
    web1_.look(now);
    web2_.look(now);
  }

  SeenHost web1_{clicks_config("web1"), url_};
  SeenHost web2_{clicks_config("web2"), url_};
};

TEST_P(SavedSeenSet, ARebootLosesWhatWasAddedSinceTheLastSaveAlone) {
  SeenHost host(clicks_config(), url_);
  host.look(kNoon);
  EXPECT_EQ(host.add_many(0, 500), 500U);
  host.look(kNoon + 10 * kMinute);
  EXPECT_EQ(host.add_many(500, 500), 500U);
  EXPECT_EQ(host.look(kNoon + 11 * kMinute).trouble, "");
  EXPECT_EQ(host.add_many(1'000, 10), 10U);
  const std::uint32_t filters = host.worker().attached().size;
  host.reboot();
  EXPECT_FALSE(host.worker().is_ready());

  host.start();
  EXPECT_EQ(host.look(kNoon + 12 * kMinute).trouble, "");
  EXPECT_EQ(host.report().saves_lost, 0U);
  EXPECT_EQ(host.add_many(0, 1'000), 0U);
  EXPECT_EQ(host.add_many(1'000, 10), 10U);
  EXPECT_EQ(host.worker().attached().size, filters) << "the newest goes on";
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
  host.look(kNoon + 44 * kMinute);
  EXPECT_EQ(host.add_many(0, 100), 100U);
}

// Nothing is added any more, so what the log says of its end is all that there is.
TEST_P(SavedSeenSet, ARebootForgetsNoWindowThatNoneCouldFollow) {
  SeenHost host(clicks_config(), url_);
  host.look(kNoon);
  EXPECT_EQ(host.add_many(0, 100), 100U);
  host.look(kNoon + 1);
  host.set_deaths(1);
  host.start();
  for (int minute : {30, 59})
    EXPECT_THAT(host.look(kNoon + minute * kMinute).trouble, HasSubstr("killed while it took memory"));
  host.reboot();
  host.start();
  EXPECT_EQ(host.look(kNoon + kHour).trouble, "");
  EXPECT_EQ(host.count_of(0, 100), 100U);
  EXPECT_EQ(host.worker().attached().size, 2U);
  host.look(kNoon + 69 * kMinute);
  EXPECT_EQ(host.count_of(0, 100), 100U) << "it ended no earlier than it was saved last";
  host.look(kNoon + 70 * kMinute);
  EXPECT_EQ(host.count_of(0, 100), 0U);
}

// The other one has had a later window meanwhile, which does not end the window that went on here.
TEST_P(TwoSeenHosts, ARebootForgetsNoWindowThatWentOnWhileTheOtherBeganTheNext) {
  look(kNoon);
  EXPECT_EQ(web1_.add_many(0, 100), 100U);
  look(kNoon + 1);
  web1_.set_deaths(1);
  web1_.start();
  web1_.look(kNoon + 11 * kMinute);
  web2_.look(kNoon + 11 * kMinute);
  EXPECT_EQ(web2_.add_many(500, 10), 10U);
  web2_.look(kNoon + 12 * kMinute);
  EXPECT_EQ(web1_.add_many(100, 50), 50U);
  web1_.look(kNoon + 19 * kMinute);
  web1_.reboot();
  web1_.start();
  EXPECT_EQ(web1_.look(kNoon + 19 * kMinute + 30).trouble, "");
  web1_.look(kNoon + 28 * kMinute);
  EXPECT_EQ(web1_.count_of(0, 150), 150U);
  EXPECT_EQ(web1_.count_of(500, 10), 10U);
}

TEST_P(TwoSeenHosts, ForgetNothingByAClockThatIsAheadForAWhile) {
  look(kNoon);
  EXPECT_EQ(web1_.add_many(0, 500), 500U);
  look(kNoon + 1);
  look(kNoon + 1);
  web1_.set_clock(kHour);
  EXPECT_EQ(web1_.look(kNoon + kHour + 2).trouble, "");
  EXPECT_EQ(web1_.add_many(500, 10), 10U) << "in a window of the wrong hour";
  web1_.look(kNoon + kHour + 3);
  web1_.set_clock(-kHour);
  EXPECT_THAT(web1_.look(kNoon + 4).trouble, HasSubstr("the clock was set back"));
  EXPECT_EQ(web2_.look(kNoon + 4).trouble, "");
  look(kNoon + 20 * kMinute - 1);
  EXPECT_EQ(web1_.count_of(0, 510), 510U);
  EXPECT_EQ(web2_.count_of(0, 510), 510U) << "what came from the wrong hour counts as if it came now";
  EXPECT_TRUE(web1_.tap.trimmed.empty());
  look(kNoon + 30 * kMinute);
  EXPECT_EQ(web2_.count_of(0, 510), 0U);
  web1_.look(kNoon + 2 * kHour);
  EXPECT_EQ(web1_.look(kNoon + 2 * kHour + 11 * kMinute).trouble, "");
  EXPECT_EQ(web1_.count_of(0, 510), 0U);
}

// What is in memory then, and what is in the store.
TEST_P(SavedSeenSet, KeepsWhatExpiresByAWrongClockUntilTheClockIsRightAgain) {
  for (const bool is_reboot : {false, true}) {
    SCOPED_TRACE(is_reboot);
    SeenHost host(clicks_config(is_reboot ? "web1" : "web2"), url_);
    host.look(kNoon);
    EXPECT_EQ(host.add_many(0, 500), is_reboot ? 0U : 500U);
    host.look(kNoon + 1);
    is_reboot ? host.reboot() : host.stop();
    if (!is_reboot) host.set_clock(kHour);
    host.start();
    host.look(kNoon + kHour + 2);
    host.set_clock(-kHour);
    host.look(kNoon + kMinute);
    EXPECT_EQ(host.count_of(0, 500), 500U);
    host.look(kNoon + 20 * kMinute - 1);
    EXPECT_EQ(host.count_of(0, 500), 500U);
  }
}

// Positions in the log are of the time at which they were appended, which is today.
TEST_P(SavedSeenSet, TrimsWhatHasBeenExpiredForAsLongAsItWasKeptByBothClocks) {
  const UnixSeconds now = unix_now() / kHour * kHour + kHour;
  const auto at = [](UnixSeconds moment) {
    return log_position(static_cast<std::uint64_t>(moment) * 1000, 0);
  };
  SeenHost host(clicks_config(), url_);
  host.look(now);
  host.add_many(0, 500);
  host.look(now + 1);
  host.set_clock(24 * kHour);
  host.look(now + 24 * kHour + 2);
  host.add_many(500, 10);
  host.look(now + 24 * kHour + 3);
  host.look(now + 24 * kHour + 20 * kMinute - 1);
  EXPECT_TRUE(host.tap.trimmed.empty());
  host.start();
  host.look(now + 24 * kHour + 20 * kMinute);
  EXPECT_EQ(host.tap.trimmed, std::vector{at(now - 21 * kMinute)}) << "as of the first look";
  host.look(now + 24 * kHour + 21 * kMinute);
  host.look(now + 24 * kHour + 41 * kMinute);
  EXPECT_EQ(host.tap.trimmed.back(), at(now + 24 * kHour));
  EXPECT_TRUE(entries().empty());
  EXPECT_EQ(host.look(now + 24 * kHour + 42 * kMinute).trouble, "");
}

TEST_P(SavedSeenSet, SendsEachKeyOnceAndReadsItOnce) {
  SeenHost host(clicks_config(), url_);
  host.look(kNoon);
  EXPECT_EQ(host.look(kNoon + 1).keys_saved, 0U);
  EXPECT_EQ(host.tap.entries_appended, 0U);
  EXPECT_EQ(host.add_many(0, 1'000), 1'000U);
  EXPECT_EQ(host.look(kNoon + 2).keys_saved, 1'000U);
  EXPECT_EQ(host.tap.entries_appended, 1U);
  EXPECT_LT(host.tap.bytes_appended, 1'000U * 10);
  host.look(kNoon + 3);
  EXPECT_EQ(host.tap.entries_read, 1U);
  host.save();
  host.start();  // as with a reload or a restart
  host.look(kNoon + 4);
  EXPECT_EQ(host.tap.entries_appended, 1U);
  EXPECT_EQ(host.tap.entries_read, 2U) << "the last one once more: it is still there";
  EXPECT_EQ(host.add_many(0, 1'010), 10U);
  EXPECT_EQ(host.look(kNoon + 5).keys_saved, 10U);
  host.reboot();
  host.start();
  host.look(kNoon + 6);
  host.look(kNoon + 7);
  EXPECT_EQ(host.add_many(0, 1'010), 0U);
  EXPECT_EQ(host.tap.entries_appended, 2U) << "what was restored is in the store";
}

TEST_P(TwoSeenHosts, LearnFromEachOtherAndSendOnlyTheirOwn) {
  look(kNoon);
  EXPECT_EQ(web1_.add_many(0, 500), 500U);
  look(kNoon + 1);
  EXPECT_EQ(web2_.add_many(500, 500), 500U);
  web2_.look(kNoon + 2);
  look(kNoon + 3);
  EXPECT_EQ(web1_.report().keys_merged, 500U);
  EXPECT_EQ(web2_.report().keys_merged, 500U);
  EXPECT_EQ(web1_.report().trouble, "");
  EXPECT_EQ(web2_.add_many(0, 1'000), 0U);
  EXPECT_EQ(web1_.add_many(0, 1'000), 0U);
  web1_.start();
  look(kNoon + 4);
  look(kNoon + 5);
  EXPECT_EQ(entries().size(), 2U);
  EXPECT_LE(web1_.tap.entries_read, 3U) << "the last one once more: it is still there";
  EXPECT_LE(web2_.tap.entries_read, 3U);
}

TEST_P(SavedSeenSet, IsSavedWhenTheLoaderEnds) {
  SeenHost host(clicks_config(), url_);
  host.look(kNoon);
  EXPECT_EQ(host.add_many(0, 500), 500U);
  host.save();
  host.reboot();
  host.start();
  host.look(kNoon + 1);
  EXPECT_EQ(host.count_of(0, 500), 500U);
}

// Up to the fourth filter, of the newest window and of the one before it.
TEST_P(TwoSeenHosts, AWindowThatGrowsOnOneGrowsOnTheOther) {
  look(kNoon);
  web2_.stop();
  for (const UnixSeconds begin : {kNoon, kNoon + 10 * kMinute}) {
    web1_.look(begin);
    web1_.add_slowly(static_cast<std::uint64_t>(begin - kNoon) * 1'000, 20'000, begin + 1);
  }
  EXPECT_EQ(web1_.worker().attached().size, 2 * kFiltersPerWindow);
  EXPECT_EQ(web1_.report().trouble, "");
  web2_.start();
  EXPECT_EQ(web2_.look(kNoon + 11 * kMinute).trouble, "");
  EXPECT_EQ(web2_.worker().attached().size, 2 * kFiltersPerWindow);
  EXPECT_EQ(web2_.count_of(0, 20'000), web1_.count_of(0, 20'000));
  EXPECT_EQ(web2_.count_of(600'000, 20'000), web1_.count_of(600'000, 20'000));
  EXPECT_EQ(web2_.look(kNoon + 12 * kMinute).trouble, "");
}

TEST_P(SavedSeenSet, ANewHostBeginsWithWhatTheOthersHaveSeen) {
  SeenHost web1(clicks_config("web1"), url_);
  web1.look(kNoon);
  EXPECT_EQ(web1.add_many(0, 500), 500U);
  web1.look(kNoon + 10 * kMinute);
  SeenHost web2(clicks_config("web2"), url_);
  EXPECT_EQ(web2.look(kNoon + 10 * kMinute).trouble, "");
  EXPECT_EQ(web2.add_many(0, 500), 0U);
}

// The loader alone, or the whole host.
TEST_P(SavedSeenSet, AHostLearnsWhatTheOthersHaveSeenInWindowsThatItHasMissed) {
  SeenConfig config = clicks_config("web1");
  config.windows = 4;
  SeenHost web1(config, url_);
  config.host = "web2";
  SeenHost web2(config, url_);
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
    EXPECT_EQ(web1.look(begin + 20 * kMinute).trouble, "");
    EXPECT_EQ(web1.add_many(first_key, 500), 0U);
    EXPECT_EQ(web2.look(begin + 20 * kMinute + 2).trouble, "");
    EXPECT_EQ(web2.add_many(first_key, 500), 0U);
  }
  web1.look(kNoon + 2 * kHour);
  web1.look(kNoon + 3 * kHour);
  EXPECT_EQ(web1.worker().attached().size, 2U) << "all older ones are over";
}

// The running window keeps the sizes with which it began.
TEST_P(TwoSeenHosts, MergeAWindowThatGrowsAfterANewConfigurationOfBoth) {
  look(kNoon);
  for (SeenHost* host : {&web1_, &web2_}) {
    host->config().keys = 5'000;
    host->start();
    host->look(kNoon + 1);
  }
  web2_.add_slowly(0, 3'000, kNoon + 2);
  EXPECT_EQ(web1_.look(kNoon + 3).trouble, "");
  EXPECT_EQ(web1_.add_many(0, 3'000), 0U);
}

TEST_P(TwoSeenHosts, AWindowThatGrowsAtItsVeryEndReachesTheOther) {
  look(kNoon);
  web2_.add_slowly(0, 3'000, kNoon + 10 * kMinute - 1);
  EXPECT_EQ(web1_.look(kNoon + 10 * kMinute).trouble, "");
  EXPECT_EQ(web1_.add_many(0, 3'000), 0U);
  EXPECT_EQ(web1_.worker().attached().size, 3U);
  EXPECT_EQ(web1_.add_many(10'000, 10), 10U);
  web1_.look(kNoon + 20 * kMinute);
  EXPECT_EQ(web1_.count_of(10'000, 10), 10U);
  web1_.look(kNoon + 30 * kMinute);
  EXPECT_EQ(web1_.count_of(10'000, 10), 0U);
}

TEST_P(TwoSeenHosts, AHostWithOtherFiltersKeepsNoOtherFromBeingMerged) {
  SeenConfig config = clicks_config("web3");
  config.keys = 5'000;
  SeenHost web3(config, url_);
  look(kNoon);
  web3.look(kNoon);
  web3.add(1);
  web2_.add(2);
  web3.look(kNoon);
  web2_.look(kNoon);
  EXPECT_EQ(web1_.look(kNoon).trouble,
            "host web3 has other filters: keys, window, windows and fpr must be the same");
  EXPECT_FALSE(web1_.add(2));
  EXPECT_TRUE(web1_.add(1));
  EXPECT_THAT(web1_.look(kNoon + 1).trouble, HasSubstr("web3"));
  web2_.look(kNoon + 1);
  EXPECT_FALSE(web2_.add(1)) << "it was sent all the same";
  EXPECT_THAT(web1_.look(kNoon + 9 * kMinute).trouble, HasSubstr("web3")) << "as long as the window lasts";
  EXPECT_EQ(web1_.look(kNoon + 10 * kMinute).trouble, "");
}

// Its entries come first, and it makes other windows: larger ones, or kept for longer, or its clock is ahead.
TEST_P(TwoSeenHosts, ARebootTakesNoPlanFromAnotherHost) {
  SeenConfig larger = clicks_config("larger");
  larger.keys = 5'000;
  SeenConfig longer = clicks_config("longer");
  longer.windows = 4;
  longer.fpr = 2e-4;  // so the filters are the same
  std::uint64_t key = 0;
  for (const SeenConfig& config : {larger, longer, clicks_config("ahead")}) {
    SeenHost other(config, url_);
    other.look(config.host == "ahead" ? kNoon + 3 * kHour : kNoon);
    EXPECT_EQ(other.add_many(key += 100, 100), 100U);
    other.save();
  }
  web1_.look(kNoon + 1);
  EXPECT_EQ(web1_.report().saves_lost, 0U) << "all can be read";
  const SeenPage& page = *web1_.worker().page();
  ASSERT_EQ(web1_.worker().attached().size, 1U);
  const SeenPlan& plan = page.entry(web1_.worker().attached().first).plan;
  EXPECT_EQ(plan.capacity, 2'000U);
  EXPECT_EQ(plan.window, (SeenWindow{kNoon, kNoon + 10 * kMinute, 10 * kMinute}));
  EXPECT_EQ(web1_.count_of(100, 100), 0U);
  EXPECT_EQ(web1_.count_of(200, 200), 200U);
}

// The others' entries come first, and this host would not make such a window any more.
TEST_P(TwoSeenHosts, ARebootAfterANewConfigurationBringsBackWhatTheOthersHaveSeenBefore) {
  look(kNoon);
  EXPECT_EQ(web2_.add_many(0, 100), 100U);
  web2_.look(kNoon + 1);
  EXPECT_EQ(web1_.add_many(100, 100), 100U);
  web1_.look(kNoon + 2);
  web1_.config().keys = 5'000;
  web1_.reboot();
  web1_.start();
  EXPECT_EQ(web1_.look(kNoon + 3).trouble, "");
  EXPECT_EQ(web1_.count_of(0, 200), 200U);
}

// It was saved, ran without the store, and is saved again.
TEST_P(TwoSeenHosts, IgnoreWhatAnEarlierLifeOfTheirSetHasLeftAndReportTheOther) {
  look(kNoon);
  EXPECT_EQ(web1_.add_many(0, 500), 500U);
  look(kNoon + 1);
  web1_.reboot();
  web1_.start(false);
  web1_.look(kNoon + 2);
  EXPECT_EQ(web1_.add_many(0, 1'000), 1'000U) << "with another seed";
  web1_.start();
  EXPECT_EQ(web1_.look(kNoon + 3).trouble, "");
  EXPECT_EQ(web1_.add_many(2'000, 1'000), 1'000U) << "as many as without the old ones";
  EXPECT_EQ(web1_.look(kNoon + 4).trouble, "");
  EXPECT_EQ(web2_.look(kNoon + 4).trouble, "host web1 has another seed: it began with another store");
  EXPECT_EQ(web2_.count_of(500, 500), 0U);
  web1_.reboot();
  web1_.start();
  EXPECT_EQ(web1_.look(kNoon + 5).trouble, "");
  EXPECT_EQ(web1_.count_of(0, 1'000), 1'000U);
  EXPECT_EQ(web1_.count_of(2'000, 1'000), 1'000U);
}

// As by a failover: it was confirmed, and is not there.
TEST_P(SavedSeenSet, IsSavedAgainWhenTheStoreHasLostAnEntryAtTheEndOfTheLog) {
  SeenHost host(clicks_config(), url_);
  host.look(kNoon);
  std::uint64_t key = 0;
  for (const bool is_lost : {false, true, false}) {
    host.tap.loses = [&](const auto&) { return is_lost; };
    EXPECT_EQ(host.add_many(key, 100), 100U);
    host.look(kNoon + 1);
    key += 100;
  }
  host.look(kNoon + 2);
  EXPECT_EQ(host.report().keys_saved, 100U + 100U + 300U);
  host.look(kNoon + 3);
  EXPECT_EQ(host.report().keys_saved, 500U) << "only once";
  host.reboot();
  host.start();
  host.look(kNoon + 4);
  EXPECT_EQ(host.count_of(0, 300), 300U);
}

TEST_P(SavedSeenSet, SaysHowManyEntriesTheStoreHasLostOrDamaged) {
  SeenHost host(clicks_config(), url_);
  host.look(kNoon);
  for (std::uint64_t first = 0; first < 500; first += 100) {
    EXPECT_EQ(host.add_many(first, 100), 100U);
    host.look(kNoon + 1);
  }
  host.tap.changes = [](std::vector<LogEntry>& found) {
    if (found.empty()) return;
    ASSERT_EQ(found.size(), 5U);
    found[1].key->at(40) ^= 1;
    found[2].key->at(7) = '9';
    found.erase(found.begin() + 3);
  };
  host.reboot();
  host.start();
  EXPECT_EQ(host.look(kNoon + 2).saves_lost, 3U);
  EXPECT_EQ(host.count_of(0, 500), 200U);
  EXPECT_EQ(host.count_of(0, 100), 100U);
  EXPECT_EQ(host.count_of(400, 100), 100U);
}

TEST_P(TwoSeenHosts, TakeWhatIsIntactOfALogThatIsNot) {
  look(kNoon);
  for (std::uint64_t first = 0; first < 300; first += 100) {
    EXPECT_EQ(web2_.add_many(first, 100), 100U);
    web2_.look(kNoon + 1);
  }
  for (const auto& [at, reason] : {std::pair(40, "is damaged: its checksum does not match"),
                                   std::pair(7, "was written by another version")}) {
    web1_.tap.changes = [at = at](std::vector<LogEntry>& found) {
      if (!found.empty()) found[1].key->at(static_cast<std::size_t>(at)) ^= 1;
    };
    web1_.reboot();
    web1_.start();
    web1_.look(kNoon + 2);
    EXPECT_EQ(web1_.report().saves_lost, 1U) << reason;
    EXPECT_EQ(web1_.count_of(0, 300), 200U);
  }
  web1_.stop();
  web2_.add_many(300, 100);
  web2_.look(kNoon + 3);
  web2_.add_many(400, 100);
  web2_.look(kNoon + 3);
  web1_.tap.changes = [](std::vector<LogEntry>& found) {
    if (!found.empty()) found.front().key->resize(30);
  };
  web1_.start();
  EXPECT_THAT(web1_.look(kNoon + 4).trouble, AllOf(HasSubstr(kSeenLog), HasSubstr("is not an entry")));
  EXPECT_EQ(web1_.count_of(300, 200), 100U);
}

TEST_P(TwoSeenHosts, MergeWhatComesFromAClockThatIsAheadOrBehind) {
  web1_.look(kNoon);
  std::uint64_t key = 0;
  for (const std::int64_t off : {-kHour, -kMinute, kMinute, kHour}) {
    SeenHost other(clicks_config("other" + std::to_string(key)), url_);
    SCOPED_TRACE(off);
    other.look(kNoon + off);
    EXPECT_EQ(other.add_many(key, 100), 100U);
    other.look(kNoon + off + 1);
    EXPECT_EQ(web1_.look(kNoon + 1).trouble, "");
    EXPECT_EQ(web1_.count_of(key, 100), off == -kHour ? 0U : 100U) << "an hour ago is over";
    key += 100;
  }
  EXPECT_EQ(web1_.add_many(1'000, 10), 10U);
  web1_.look(kNoon + 10 * kMinute);
  EXPECT_EQ(
      web1_.worker().page()->entry(SeenState::of(web1_.worker().page()->state).end() - 1).plan.window.ends,
      kNoon + 20 * kMinute)
      << "windows follow the own clock";
  web1_.look(kNoon + 20 * kMinute);
  EXPECT_EQ(web1_.count_of(1'000, 10), 0U);
}

TEST_P(TwoSeenHosts, AnOutageAtAnyRequestLosesNothing) {
  look(kNoon);
  std::uint64_t key = 0;
  for (std::function<void()> StoreTap::*step :
       {&StoreTap::before_read, &StoreTap::before_append, &StoreTap::after_append}) {
    EXPECT_EQ(web1_.add_many(key, 500), 500U);
    EXPECT_EQ(web2_.add_many(key + 500, 500), 500U);
    web1_.tap.*step = once(lose_connection);
    EXPECT_EQ(web1_.look(kNoon + 1).trouble, "connection lost");
    look(kNoon + 2);
    EXPECT_EQ(web1_.look(kNoon + 3).trouble, "");
    web2_.look(kNoon + 3);
    key += 1'000;
    EXPECT_EQ(web1_.count_of(0, key), key);
    EXPECT_EQ(web2_.count_of(0, key), key);
  }
  web1_.tap.before_read = once(lose_connection);
  web1_.reboot();
  web1_.start();
  EXPECT_EQ(web1_.look(kNoon + 4).trouble, "connection lost");
  EXPECT_FALSE(web1_.worker().is_ready());
  EXPECT_EQ(web1_.look(kNoon + 5).trouble, "");
  EXPECT_EQ(web1_.count_of(0, key), key);
  EXPECT_EQ(web1_.report().saves_lost, 0U);
}

// A store or this host may die between an append and the loader's note of it.
TEST_P(TwoSeenHosts, WhatIsSentTwiceDoesNoHarm) {
  look(kNoon);
  EXPECT_EQ(web1_.add_many(0, 500), 500U);
  web1_.tap.after_append = [] { throw std::runtime_error("killed"); };
  EXPECT_THROW(web1_.look(kNoon + 1), std::runtime_error);
  web1_.tap.after_append = [] {};
  web1_.start();
  look(kNoon + 2);
  look(kNoon + 3);
  EXPECT_EQ(entries().size(), 2U);
  EXPECT_EQ(web1_.report().keys_saved, 500U);
  EXPECT_EQ(web2_.count_of(0, 500), 500U);
  EXPECT_LE(seen_fill(web2_.worker().filters().front()).keys, 520) << "what was sent short is longer there";
  web1_.reboot();
  web1_.start();
  EXPECT_EQ(web1_.look(kNoon + 4).saves_lost, 0U);
  EXPECT_EQ(web1_.count_of(0, 500), 500U);
}

// Both a host with too many keys and a worker that sets whatever it likes.
TEST_P(TwoSeenHosts, AFilterThatIsTooFullSpoilsNoOtherHost) {
  look(kNoon);
  EXPECT_EQ(web2_.add_many(0, 100), 100U);
  look(kNoon + 1);
  for (Word& word : web2_.worker().filters().front().words()) {
    word.low = 0x5a5a'5a5a'5a5a'5a5a;
    word.high = ~std::uint64_t{0};
  }
  web2_.look(kNoon + 2);
  EXPECT_THAT(web1_.look(kNoon + 2).trouble, HasSubstr("what host web2 adds is not taken over"));
  EXPECT_EQ(web1_.count_of(0, 100), 100U);
  const SeenPlan plan = web1_.worker().page()->entry(0).plan;
  EXPECT_LE(seen_fill(web1_.worker().filters().front()).rate, 16 * plan.rate);
  EXPECT_EQ(web1_.add_many(1'000, 500), 500U);
  web1_.look(kNoon + 3);
  web2_.look(kNoon + 10 * kMinute);
  EXPECT_EQ(web1_.look(kNoon + 10 * kMinute).trouble, "") << "in the next window they are well again";
}

TEST_P(SavedSeenSet, AWorkerThatTakesKeysAwayFillsNoStore) {
  SeenHost host(clicks_config(), url_);
  host.look(kNoon);
  const std::span<Word> words = host.worker().filters().front().words();
  for (int i = 0; i < 100; ++i) {
    for (Word& word : words) {
      word.low = i % 2 == 0 ? ~std::uint64_t{0} : 0;
      word.high = i % 2 == 0 ? ~std::uint64_t{0} : 0;
    }
    host.look(kNoon + 1);
  }
  EXPECT_THAT(host.report().trouble, HasSubstr("a worker takes keys away"));
  EXPECT_LE(host.tap.bytes_appended, 2 * kMostTags * words.size() * 4);
  host.look(kNoon + 10 * kMinute);
  const std::span<Word> next = host.worker().filters().back().words();
  static_cast<void>(next[3].compare_and_set({}, WordValue{}.with(77)));
  host.look(kNoon + 10 * kMinute + 1);
  host.reboot();
  host.start();
  host.look(kNoon + 10 * kMinute + 2);
  EXPECT_EQ(seen_fill(host.worker().filters().back()).keys, 1) << "the next window was saved";
}

// With memory for nothing more.
TEST_P(TwoSeenHosts, SaveAndMergeWhatTheyCanWhereAFilterOfTheOtherFindsNoRoom) {
  look(kNoon);
  web1_.set_deaths(1);
  web1_.start();
  web1_.look(kNoon + 1);
  web2_.add_slowly(0, 3'000, kNoon + 2);
  EXPECT_EQ(web1_.add_many(10'000, 100), 100U);
  EXPECT_THAT(web1_.look(kNoon + 3).trouble, HasSubstr("killed while it took memory"));
  web2_.look(kNoon + 4);
  EXPECT_EQ(web2_.count_of(10'000, 100), 100U) << "it was saved all the same";
  EXPECT_LT(web1_.count_of(0, 3'000), 3'000U);
  web1_.wait(std::chrono::seconds(61));
  EXPECT_EQ(web1_.look(kNoon + 5).trouble, "");
  EXPECT_EQ(web1_.count_of(0, 3'000), 3'000U) << "once there is room";
}

// As if another process had it: the restore reads the whole log each time.
TEST_P(SavedSeenSet, ARestoreThatFindsNoRoomIsTriedAgainLessAndLessOften) {
  SeenHost host(clicks_config(), url_);
  host.look(kNoon);
  EXPECT_EQ(host.add_many(0, 500), 500U);
  host.look(kNoon + 1);
  host.reboot();
  host.start();
  int tries = 0;
  host.tap.before_read = [&] {
    ++tries;
    throw Error(ErrorKind::CannotCreate, "no room");
  };
  SteadyTime now = std::chrono::steady_clock::now();
  const auto look_for = [&](Milliseconds time) {
    for (const SteadyTime end = now + time; now < end; now += SeenKeeper::kPause)
      host.keeper().look(now, {kNoon + kMinute, 100});
  };
  look_for(std::chrono::seconds(30));
  EXPECT_THAT(host.report().trouble, HasSubstr("no room"));
  EXPECT_TRUE(host.report().troubles().has(Trouble::SeenMissing));
  EXPECT_THAT(tries, AllOf(Ge(4), Le(8))) << "after 1, 2, 4 and 8 s, but for the jitter";
  host.tap.before_read = [] {};
  look_for(2 * SeenKeeper::kLongestRestorePause);
  EXPECT_EQ(host.report().trouble, "");
  EXPECT_EQ(host.count_of(0, 500), 500U);
}

// Removed by somebody while the loader was stopped.
TEST_P(SavedSeenSet, BringsBackWhatWasInMemoryThatWasLost) {
  for (const std::uint32_t lost : {0U, 1U, 2U}) {
    SCOPED_TRACE(lost);
    SeenHost host(clicks_config("web" + std::to_string(lost)), url_);
    host.look(kNoon);
    host.add_many(0, 500);
    host.look(kNoon + 10 * kMinute);
    host.add_many(500, 500);
    host.look(kNoon + 10 * kMinute + 1);
    for (std::uint32_t i = 0; i < 2; ++i) {
      if (lost == i || lost == 2) remove_segment(host.segment_key(i));
    }
    host.stop();
    host.start();
    EXPECT_EQ(host.look(kNoon + 11 * kMinute).trouble, "");
    EXPECT_EQ(host.count_of(0, 1'000), 1'000U);
    host.look(kNoon + 20 * kMinute - 1);
    EXPECT_EQ(host.count_of(0, 1'000), 1'000U);
    host.look(kNoon + 21 * kMinute);
    host.look(kNoon + 31 * kMinute);
    EXPECT_EQ(host.count_of(0, 1'000), 0U);
  }
}

// While the loader runs: it has the memory still, and knows what the store has of it.
TEST_P(TwoSeenHosts, LearnWhatWasInMemoryThatWasRemovedBeforeItWasSaved) {
  look(kNoon);
  EXPECT_EQ(web1_.add_many(0, 500), 500U);
  look(kNoon + 1);
  EXPECT_EQ(web1_.add_many(500, 100), 100U);
  remove_segment(web1_.segment_key(0));
  EXPECT_EQ(web1_.look(kNoon + 2).trouble, "");
  EXPECT_LT(web1_.report().keys_saved, 650U) << "hardly any twice";
  web2_.look(kNoon + 3);
  EXPECT_EQ(web2_.count_of(0, 600), 600U);
}

// Knows what it has called new, and when it must not be called new again.
class RememberingHost {
 public:
  RememberingHost(const std::string& name, const std::string& url) : host_(clicks_config(name), url) {}

  void look(UnixSeconds now) {
    ASSERT_THAT(host_.look(now).trouble, AnyOf("", HasSubstr("the clock was set back")));
    unsaved_.clear();
    has_lost_memory_ = false;
  }
  void add(std::uint64_t key, UnixSeconds now) {
    const bool is_new = host_.add(key);
    if (is_known(key, now)) {
      EXPECT_FALSE(is_new) << key << ", of " << now - since_[key] << " s ago";
    } else if (is_new) {
      since_[key] = now;
      unsaved_.insert(key);
    }
  }
  // What is added to memory that is lost while no loader has it is lost as well, so it must look at once.
  void restart(bool has_lost_memory, UnixSeconds now) {
    host_.stop();
    if (has_lost_memory) lose_memory();
    host_.start();
    if (has_lost_memory_) forget_unsaved();
    look(now);
  }
  void reboot() {
    host_.reboot();
    host_.start();
    forget_unsaved();
  }
  void lose_memory() {
    if (!host_.worker().is_ready()) return;
    remove_segment(host_.segment_key(0));
    has_lost_memory_ = true;
  }
  void set_clock(std::int64_t by) { host_.set_clock(by); }
  [[nodiscard]] bool is_known(std::uint64_t key, UnixSeconds now) const {
    const auto found = since_.find(key);
    return found != since_.end() && now < found->second + 10 * kMinute;
  }
  bool has(std::uint64_t key) { return host_.has(key); }

 private:
  void forget_unsaved() {
    for (const std::uint64_t key : std::exchange(unsaved_, {})) since_.erase(key);
  }

  SeenHost host_;
  std::map<std::uint64_t, UnixSeconds> since_;
  std::set<std::uint64_t> unsaved_;
  bool has_lost_memory_ = false;  // and the loader has not looked since
};

TEST_P(SavedSeenSet, NoKeyIsNewTwiceOnAHostAndTheOthersLearnEachWhateverHappens) {
  constexpr std::uint64_t kKeys = 400;
  std::size_t known = 0;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    const std::string url = with_parameter(url_, "prefix=s" + std::to_string(seed));
    std::mt19937 random(seed);
    std::deque<RememberingHost> hosts;
    UnixSeconds now = kNoon;
    const auto all_look = [&] {
      for (RememberingHost& host : hosts) host.look(now);
    };
    for (const char* name : {"web1", "web2", "web3"}) hosts.emplace_back(name, url);
    all_look();
    for (int step = 0; step < 120 && !HasFailure(); ++step) {
      RememberingHost& host = hosts[random() % hosts.size()];
      switch (random() % 12) {
        case 0:
          host.restart(random() % 2 == 0, now);
          break;
        case 1:
          host.reboot();
          break;
        case 2:
          host.lose_memory();
          break;
        case 3: {  // a clock that is wrong for a while, from a reboot on or not
          const auto off = static_cast<std::int64_t>(random() % 7'200) - 3'600;
          host.look(now);
          if (random() % 2 == 0) {
            host.reboot();
            host.look(now + off);
          } else {
            host.set_clock(off);
            host.look(now + off);
            for (int i = 0; i < 5; ++i) host.add(random() % kKeys, now);
          }
          host.set_clock(-off);
          host.look(now);
          break;
        }
        case 4:
        case 5:
          now += static_cast<UnixSeconds>(random() % 240);
          all_look();
          break;
        default:
          for (int i = 0; i < 10; ++i) host.add(random() % kKeys, now);
      }
      if (random() % 4 == 0 || step % 12 < 4) host.look(now);
    }
    for (int i = 0; i < 3; ++i) all_look();
    for (const RememberingHost& host : hosts) {
      for (std::uint64_t key = 0; key < kKeys; ++key) {
        if (!host.is_known(key, now)) continue;
        ++known;
        for (RememberingHost& other : hosts) EXPECT_TRUE(other.has(key)) << key;
      }
    }
  }
  EXPECT_GT(known, 200U);
}

// As after an outage that lasted for most of the window.
TEST_P(TwoSeenHosts, MergeAWholeWindowAtOnce) {
  look(kNoon);
  web1_.add_many(0, 2'000);
  look(kNoon + 1);
  EXPECT_EQ(web2_.look(kNoon + 2).trouble, "");
  const SeenFill own = seen_fill(web1_.worker().filters().front());
  const SeenFill merged = seen_fill(web2_.worker().filters().front());
  EXPECT_EQ(web2_.count_of(0, 2'000), 2'000U);
  EXPECT_LT(merged.keys, 1.1 * own.keys);
  EXPECT_LT(merged.rate, 2 * own.rate);
}

INSTANTIATE_TEST_SUITE_P(Stores, SavedSeenSet, ::testing::Values(kLmdb, kDir, kRedisUnix), store_kind_name);
INSTANTIATE_TEST_SUITE_P(Stores, TwoSeenHosts, ::testing::Values(kLmdb, kDir, kRedisUnix), store_kind_name);

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
  EXPECT_EQ(host.worker().attached().size, 2U) << "windows follow the clock";
  redis.start();
  EXPECT_TRUE(eventually([&] { return host.look(kNoon + 11 * kMinute).trouble.empty(); }));
  host.reboot();
  host.start();
  host.look(kNoon + 12 * kMinute);
  EXPECT_EQ(host.add_many(0, 200), 0U);
}

// As a failover to a server that is behind, or empty.
TEST(SeenSetWithoutItsStore, IsSavedAgainWhenTheStoreHasLostTheLogOrItsEnd) {
  RedisServer redis;
  for (const bool is_empty : {true, false}) {
    redis.command("FLUSHALL");
    SeenHost web1(clicks_config("web1"), redis.unix_url());
    SeenHost web2(clicks_config("web2"), redis.unix_url());
    web1.look(kNoon);
    web2.look(kNoon);
    EXPECT_EQ(web1.add_many(0, 100), 100U);
    EXPECT_EQ(web2.add_many(500, 100), 100U);
    web1.look(kNoon + 1);
    redis.command("COPY " + kSeenLog + " before");
    EXPECT_EQ(web1.add_many(100, 100), 100U);
    web1.look(kNoon + 2);
    web2.look(kNoon + 2);
    web1.look(kNoon + 2);
    redis.command(is_empty ? "DEL " + kSeenLog : "RENAME before " + kSeenLog);
    web1.look(kNoon + 10);  // it looks every 5 s
    web2.look(kNoon + 10);
    EXPECT_EQ(web1.look(kNoon + 11).trouble, "");
    for (SeenHost* host : {&web1, &web2}) {
      host->reboot();
      host->start();
      EXPECT_EQ(host->look(kNoon + 12).trouble, "");
      EXPECT_EQ(host->report().saves_lost, is_empty ? 0U : 1U) << "whose keys were saved again";
      EXPECT_EQ(host->count_of(0, 200), 200U) << is_empty;
      EXPECT_EQ(host->count_of(500, 100), 100U) << is_empty;
    }
  }
}

SeenLogEntry an_entry() {
  SeenLogEntry entry{.seed = {77},
                     .sender = 78,
                     .number = 79,
                     .ended_at = 80,
                     .plan = {{1, 2, 3}, 0, 1'000, 1e-5, {512, 8}},
                     .host = "web1"};
  for (std::uint64_t i = 0; i < 64; ++i) {
    const unsigned bits = 3 + static_cast<unsigned>(i) % 38;
    entry.tags.push_back({i, (i * 0x9e37'79b9'7f4a'7c15) >> (64 - bits), bits});
  }
  return entry;
}

TEST(SeenLogEntries, AreReadAsTheyWereWritten) {
  SeenLogEntry entry = an_entry();
  EXPECT_EQ(decode_seen_log_entry(encode(entry), "entry"), entry);
  entry.plan.size = {kMaxSeenWords, 4};
  entry.host = std::string(kMostSeenHostBytes, 'h');
  entry.tags.assign(kTagsPerEntry + kMostTags, {0, low_bits(~std::uint64_t{0}, kMostTagBits), kMostTagBits});
  entry.tags.back().block = kMaxSeenWords / 4 - 1;
  const std::string value = encode(entry);
  EXPECT_LE(value.size(), kMaxValueBytes);
  EXPECT_EQ(decode_seen_log_entry(value, "entry"), entry);
}

TEST(SeenLogEntries, AreRefusedIfAnyByteIsWrong) {
  const std::string value = encode(an_entry());
  for (std::size_t i = 0; i < value.size(); ++i) {
    std::string damaged = value;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_THROW(decode_seen_log_entry(damaged, "entry"), Error) << i;
    EXPECT_THROW(decode_seen_log_entry(value.substr(0, i), "entry"), Error) << i;
  }
  EXPECT_THROW(decode_seen_log_entry(value + '\0', "entry"), Error);
}

TEST(SeenLogEntries, AreRefusedIfNoLoaderWritesSuch) {
  const auto is_refused = [](const auto& change) {
    SeenLogEntry entry = an_entry();
    change(entry);
    try {
      decode_seen_log_entry(encode(entry), "entry");
      return false;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::Data;
    }
  };
  EXPECT_FALSE(is_refused([](auto&) {}));
  for (const SeenSize& size :
       {SeenSize{0, 8}, {513, 8}, {2 * kMaxSeenWords, 8}, {512, 0}, {512, 32}, {256, 8}})
    EXPECT_TRUE(is_refused([&](auto& entry) { entry.plan.size = size; }))
        << size.words << " " << size.block_words;
  EXPECT_TRUE(is_refused([](auto& entry) { entry.plan.window.ends = -1; }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.ended_at = kFarthestMoment + 1; }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.plan.growth = kFiltersPerWindow; }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.plan.capacity = 0; }));
  for (const double rate : {0.0, 1.0, std::nan("")})
    EXPECT_TRUE(is_refused([&](auto& entry) { entry.plan.rate = rate; })) << rate;
  EXPECT_TRUE(is_refused([](auto& entry) { entry.number = 0; }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.host.assign(kMostSeenHostBytes + 1, 'h'); }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.tags.back().block = 64; })) << "behind the last block";
  EXPECT_TRUE(is_refused([](auto& entry) { entry.tags.back().bits = kMostTagBits + 1; }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.tags.back().bits = tag_bits(kMostTags) - 1; }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.tags.back() = {63, 8, 3}; })) << "more than its bits";
}

}  // namespace
}  // namespace keysieve::test
