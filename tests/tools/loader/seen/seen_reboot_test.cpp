// What a reboot, or the removal of its memory, takes from a host that has a store.
#include "core/builder/base/log_positions.hpp"
#include "core/publisher/seen/new_segment.hpp"
#include "tests/tools/loader/seen/seen_host.hpp"

namespace keysieve::test {
namespace {

using ::testing::HasSubstr;

using SeenReboot = TwoSeenHosts;

TEST_F(SeenReboot, LosesWhatWasAddedSinceTheLastSaveAlone) {
  web1_.look(kNoon);
  EXPECT_EQ(web1_.add_many(0, 500), 500U);
  web1_.look(kNoon + 10 * kMinute);
  EXPECT_EQ(web1_.add_many(500, 500), 500U);
  EXPECT_EQ(web1_.look(kNoon + 11 * kMinute).reason, "");
  EXPECT_EQ(web1_.add_many(1'000, 10), 10U);
  const std::uint32_t filters = web1_.worker().attached().size;
  web1_.reboot();
  EXPECT_FALSE(web1_.worker().is_ready());

  web1_.start();
  EXPECT_EQ(web1_.look(kNoon + 12 * kMinute).reason, "");
  EXPECT_EQ(web1_.report().saves_lost, 0U);
  EXPECT_EQ(web1_.add_many(0, 1'000), 0U);
  EXPECT_EQ(web1_.add_many(1'000, 10), 10U);
  EXPECT_EQ(web1_.worker().attached().size, filters) << "the newest goes on";
  web1_.look(kNoon + 20 * kMinute);
  EXPECT_EQ(web1_.add_many(0, 500), 500U) << "their window is over";
}

// The loader was stopped when the window should have ended, and keys came in until it was back.
TEST_F(SeenReboot, ForgetsNoWindowEarlyThatEndedLate) {
  web1_.look(kNoon);
  web1_.stop();
  EXPECT_EQ(web1_.add_many(0, 100), 100U);
  web1_.start();
  web1_.look(kNoon + 25 * kMinute);
  web1_.reboot_and_start();
  web1_.look(kNoon + 34 * kMinute);
  EXPECT_EQ(web1_.add_many(0, 100), 0U);
  web1_.look(kNoon + 44 * kMinute);
  EXPECT_EQ(web1_.add_many(0, 100), 100U);
}

// The other one has had a later window meanwhile, which does not end the window that went on here.
TEST_F(SeenReboot, ForgetsNoWindowThatWentOnWhileTheOtherBeganTheNext) {
  look(kNoon);
  EXPECT_EQ(web1_.add_many(0, 100), 100U);
  look(kNoon + 1);
  web1_.has_room = false;
  web1_.look(kNoon + 11 * kMinute);
  web2_.look(kNoon + 11 * kMinute);
  EXPECT_EQ(web2_.add_many(500, 10), 10U);
  web2_.look(kNoon + 12 * kMinute);
  EXPECT_EQ(web1_.add_many(100, 50), 50U);
  web1_.look(kNoon + 19 * kMinute);
  web1_.has_room = true;
  web1_.reboot_and_start();
  EXPECT_EQ(web1_.look(kNoon + 19 * kMinute + 30).reason, "");
  web1_.look(kNoon + 28 * kMinute);
  EXPECT_EQ(web1_.count_of(0, 150), 150U);
  EXPECT_EQ(web1_.count_of(500, 10), 10U);
}

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

// The others' entries come first, and this host would not make such a window any more.
TEST_F(SeenReboot, AfterANewConfigurationBringsBackWhatTheOthersHaveSeenBefore) {
  look(kNoon);
  EXPECT_EQ(web2_.add_many(0, 100), 100U);
  web2_.look(kNoon + 1);
  EXPECT_EQ(web1_.add_many(100, 100), 100U);
  web1_.look(kNoon + 2);
  web1_.config().keys = 5'000;
  web1_.reboot_and_start();
  EXPECT_EQ(web1_.look(kNoon + 3).reason, "");
  EXPECT_EQ(web1_.count_of(0, 200), 200U);
}

// As if another process had it: the restore reads the whole log each time.
TEST_F(SeenReboot, IsFollowedByFewRestoresWhileThereIsNoRoom) {
  web1_.look(kNoon);
  EXPECT_EQ(web1_.add_many(0, 500), 500U);
  web1_.look(kNoon + 1);
  web1_.reboot_and_start();
  int tries = 0;
  web1_.tap.before_read = [&] {
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
  web1_.tap.before_read = [] {};
  look_for(SeenKeeper::kRestorePause);
  EXPECT_EQ(web1_.report().reason, "");
  EXPECT_EQ(web1_.count_of(0, 500), 500U);
}

// Removed by somebody while the loader was stopped.
TEST_F(SeenReboot, OrAStartBringsBackMemoryThatWasRemoved) {
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
    EXPECT_EQ(host.look(kNoon + 11 * kMinute).reason, "");
    EXPECT_EQ(host.count_of(0, 1'000), 1'000U);
    host.look(kNoon + 20 * kMinute - 1);
    EXPECT_EQ(host.count_of(0, 1'000), 1'000U);
    host.look(kNoon + 21 * kMinute);
    host.look(kNoon + 31 * kMinute);
    EXPECT_EQ(host.count_of(0, 1'000), 0U);
  }
}

// While the loader runs: it has the memory still, and knows what the store has of it.
TEST_F(SeenReboot, IsNotNeededToSaveMemoryThatWasRemoved) {
  look(kNoon);
  EXPECT_EQ(web1_.add_many(0, 500), 500U);
  look(kNoon + 1);
  EXPECT_EQ(web1_.add_many(500, 100), 100U);
  remove_segment(web1_.segment_key(0));
  EXPECT_EQ(web1_.look(kNoon + 2).reason, "");
  EXPECT_LT(web1_.report().keys_saved, 650U) << "hardly any twice";
  web2_.look(kNoon + 3);
  EXPECT_EQ(web2_.count_of(0, 600), 600U);
}

// Hosts whose clocks are wrong, for a while or against each other.

using ::testing::AnyOf;
using ::testing::ElementsAre;

using SeenClocks = TwoSeenHosts;

TEST_F(SeenClocks, ForgetNothingWhenOneIsAheadForAWhile) {
  look(kNoon);
  EXPECT_EQ(web1_.add_many(0, 500), 500U);
  look(kNoon + 1);
  look(kNoon + 1);
  web1_.set_clock(kHour);
  EXPECT_EQ(web1_.look(kNoon + kHour + 2).reason, "");
  EXPECT_EQ(web1_.add_many(500, 10), 10U) << "in a window of the wrong hour";
  web1_.look(kNoon + kHour + 3);
  web1_.set_clock(-kHour);
  EXPECT_THAT(web1_.look(kNoon + 4).reason, HasSubstr("the clock was set back"));
  EXPECT_EQ(web2_.look(kNoon + 4).reason, "");
  look(kNoon + 20 * kMinute - 1);
  EXPECT_EQ(web1_.count_of(0, 510), 510U);
  EXPECT_EQ(web2_.count_of(0, 510), 510U) << "what came from the wrong hour counts as if it came now";
  EXPECT_TRUE(web1_.tap.trimmed.empty());
  look(kNoon + 30 * kMinute);
  EXPECT_EQ(web2_.count_of(0, 510), 0U);
  web1_.look(kNoon + 2 * kHour);
  EXPECT_EQ(web1_.look(kNoon + 2 * kHour + 11 * kMinute).reason, "");
  EXPECT_EQ(web1_.count_of(0, 510), 0U);
}

TEST_F(SeenClocks, KeepWhatComesFromAWindowThatLastsLongerOnOneThatIsBehind) {
  look(kNoon);
  web2_.set_clock(-kHour);
  web1_.look(kNoon + 10 * kMinute);
  EXPECT_EQ(web2_.add_many(0, 100), 100U);
  web2_.look(kNoon + 15 * kMinute - kHour);
  EXPECT_EQ(web1_.look(kNoon + 15 * kMinute).reason, "");
  web1_.look(kNoon + 20 * kMinute);
  web1_.look(kNoon + 25 * kMinute - 1);
  EXPECT_EQ(web1_.count_of(0, 100), 100U);
}

// The window went on by it, and grew.
TEST_F(SeenClocks, KeepAfterARebootWhatWasSavedByOneThatWasBehind) {
  web1_.look(kNoon);
  web1_.set_clock(-kHour);
  web1_.add_slowly(0, 4'000, kNoon + 15 * kMinute - kHour);
  web1_.set_clock(kHour);
  EXPECT_EQ(web1_.look(kNoon + 16 * kMinute).reason, "");
  web1_.reboot_and_start();
  web1_.look(kNoon + 25 * kMinute - 1);
  EXPECT_EQ(web1_.count_of(0, 4'000), 4'000U);
}

// Positions in the log are of the time at which they were appended, which is today.

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

TEST_F(SeenClocks, MergeWhatComesFromOneThatIsAheadOrBehind) {
  web1_.look(kNoon);
  std::uint64_t key = 0;
  for (const std::int64_t off : {-kHour, -kMinute, kMinute, kHour}) {
    SeenHost other(clicks_config("other" + std::to_string(key)), url_);
    SCOPED_TRACE(off);
    other.look(kNoon + off);
    EXPECT_EQ(other.add_many(key, 100), 100U);
    other.look(kNoon + off + 1);
    EXPECT_EQ(web1_.look(kNoon + 1).reason, "");
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

}  // namespace
}  // namespace keysieve::test
