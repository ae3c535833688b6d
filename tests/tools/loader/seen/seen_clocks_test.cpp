// Hosts whose clocks are wrong, for a while or against each other.
#include "core/builder/base/log_positions.hpp"
#include "tests/tools/loader/seen/seen_host.hpp"

namespace keysieve::test {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
