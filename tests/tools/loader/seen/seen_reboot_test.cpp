// What a reboot, or the removal of its memory, takes from a host that has a store.
#include "core/builder/base/log_positions.hpp"
#include "tests/tools/loader/seen/seen_host.hpp"

namespace keysieve::test {
namespace {

using ::testing::HasSubstr;

using SeenReboot = TwoSeenHosts;

// Its entries come first, and it makes other windows: larger ones, or kept for longer, or its clock is ahead.
TEST_F(SeenReboot, TakesNoPlanFromAnotherHost) {
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

// As if another process had it: the restore reads the whole log each time.
TEST_F(SeenReboot, IsFollowedByFewRestoresWhileThereIsNoRoom) {
  web1_.look(kNoon);
  EXPECT_EQ(web1_.add_many(0, 500), 500U);
  web1_.look(kNoon + 1);
  web1_.reboot_and_start();
  int tries = 0;
  web1_.tap.before_log = [&] {
    ++tries;
    throw Error(ErrorKind::CannotCreate, "no room");
  };
  SteadyTime now = std::chrono::steady_clock::now();
  const auto look_for = [&](Milliseconds time) {
    for (const SteadyTime end = now + time; now < end; now += SeenKeeper::kPause)
      web1_.keeper().look(now, {kNoon + kMinute, 100});
  };
  look_for(std::chrono::seconds(30));
  EXPECT_THAT(web1_.report().reason, HasSubstr("no room"));
  EXPECT_TRUE(web1_.report().troubles().has(Trouble::SeenMissing));
  EXPECT_EQ(tries, 3);
  web1_.tap.before_log = [] {};
  look_for(SeenKeeper::kRestorePause);
  EXPECT_EQ(web1_.report().reason, "");
  EXPECT_EQ(web1_.count_of(0, 500), 500U);
}

TEST_F(SeenReboot, BringsBackWhatHadExpiredByAClockThatWasSetRightMeanwhile) {
  web1_.look(kNoon);
  EXPECT_EQ(web1_.add_many(0, 500), 500U);
  web1_.look(kNoon + 1);
  web1_.reboot_and_start();
  web1_.keeper().look(std::chrono::steady_clock::now(), {kNoon + kHour, 30});
  EXPECT_TRUE(web1_.keeper().is_restoring());
  web1_.look(kNoon + kMinute);
  EXPECT_EQ(web1_.count_of(0, 500), 500U);
}

// Hosts whose clocks are wrong, for a while or against each other.

using ::testing::AnyOf;
using ::testing::ElementsAre;

using SeenClocks = TwoSeenHosts;

// A position in the log has the time at which it was appended, which is today.

TEST_F(SeenClocks, KeepAfterARebootWhatOneSavedThatWasBehindBeforeTheWindowBegan) {
  const UnixSeconds now = unix_now();
  const UnixSeconds ends = (now - 11 * kMinute) / (10 * kMinute) * (10 * kMinute);
  web1_.look(ends - 1);
  web1_.set_clock(-10 * kMinute);
  web1_.look(ends);
  EXPECT_EQ(web1_.add_many(0, 100), 100U);
  web1_.look(ends + kMinute);
  web1_.set_clock(10 * kMinute);
  EXPECT_EQ(web1_.look(now).reason, "");
  web1_.reboot_and_start();
  web1_.look(now + 10 * kMinute - 1);
  EXPECT_EQ(web1_.count_of(0, 100), 100U);
}

TEST_F(SeenClocks, TrimWhatHasBeenExpiredByBothForAsLongAsItWasKept) {
  const UnixSeconds now = unix_now() / kHour * kHour + kHour;
  const auto at = [](UnixSeconds moment) {
    return log_position(static_cast<std::uint64_t>(moment) * 1000, 0);
  };
  web1_.look(now);
  web1_.add_many(0, 500);
  web1_.look(now + 1);
  const LogPosition end = entries().back().position;
  web1_.set_clock(24 * kHour);
  web1_.look(now + 24 * kHour + 2);
  web1_.add_many(500, 10);
  web1_.look(now + 24 * kHour + 3);
  web1_.look(now + 24 * kHour + 20 * kMinute);
  EXPECT_TRUE(web1_.tap.trimmed.empty());
  web1_.start();
  web1_.look(now + 24 * kHour + 20 * kMinute + 2);
  EXPECT_THAT(web1_.tap.trimmed, ElementsAre(AnyOf(std::min(at(now + 1 - 21 * kMinute), end),
                                                   std::min(at(now + 2 - 21 * kMinute), end))))
      << "as of the first look that found anything, which may have lasted until the next second";
  web1_.look(now + 24 * kHour + 21 * kMinute + 1);
  const LogPosition newest = entries().back().position;
  web1_.look(now + 24 * kHour + 41 * kMinute + 2);
  EXPECT_EQ(web1_.tap.trimmed.back(), newest) << "nothing that is yet to come";
  EXPECT_TRUE(entries().empty());
  EXPECT_EQ(web1_.look(now + 24 * kHour + 42 * kMinute + 1).reason, "");
}

}  // namespace
}  // namespace keysieve::test
