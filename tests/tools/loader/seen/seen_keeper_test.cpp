// One host without a store: its windows and what they hold, whatever the loader does.
#include "tools/loader/seen/seen_keeper.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/mounts.hpp"
#include "tests/support/segments.hpp"
#include "tests/tools/loader/seen/seen_host.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SeenKeeperTest : public ::testing::Test {
 protected:
  SeenWindow newest() {
    const SeenPage& page = *host_.worker().page();
    return page.entry(SeenState::of(page.state).end() - 1).plan.window;
  }

  SeenHost host_{clicks_config(), ""};
};

TEST_F(SeenKeeperTest, EnlargesAWindowThatGetsMoreKeysAndKeepsTheRate) {
  host_.config().fpr = 0.01;
  host_.start();
  host_.look(kNoon);
  constexpr std::uint64_t kProbes = 200'000;
  std::uint64_t first = 0;
  for (int percent : {50, 100, 150, 300}) {
    const std::uint64_t until = 20ULL * static_cast<unsigned>(percent);  // of 2,000 keys
    for (; first < until; first += 100) {
      host_.add_many(first, 100);
      host_.look(kNoon + kMinute);
    }
    EXPECT_EQ(host_.count_of(0, first), first);
    const double rate = static_cast<double>(host_.count_of(1'000'000, kProbes)) / kProbes;
    // A window may use its half of the rate; sampling adds at most five standard deviations.
    EXPECT_LT(rate, 0.005 + 5 * std::sqrt(0.005 / kProbes)) << percent << " %";
  }
  EXPECT_EQ(host_.worker().attached().size, 3U) << "of 2,000, 4,000 and 8,000 keys";
  EXPECT_FALSE(host_.report().is_full);
}

TEST_F(SeenKeeperTest, FollowsLongerWindowsOfANewConfiguration) {
  host_.look(kNoon + 10 * kMinute);
  EXPECT_TRUE(host_.add(1));
  host_.config().window = std::chrono::hours(1);
  host_.config().on_unavailable = OnUnavailable::New;
  host_.start();
  host_.look(kNoon + 10 * kMinute);
  EXPECT_FALSE(host_.add(1));
  EXPECT_EQ(host_.worker().on_unavailable(), OnUnavailable::New);
  host_.look(kNoon + 20 * kMinute);
  EXPECT_FALSE(host_.add(1));
  EXPECT_TRUE(host_.add(2));
  EXPECT_EQ(newest(), (SeenWindow{kNoon + 20 * kMinute, kNoon + 60 * kMinute, 60 * kMinute}));
}

TEST_F(SeenKeeperTest, BeginsAgainWhenThePageIsDamaged) {
  host_.look(kNoon);
  EXPECT_TRUE(host_.add(1));
  SeenReader attached({.directory = host_.directory()}, "clicks");
  EXPECT_TRUE(attached.follow());
  const auto segments = segments_of(::getpid());
  std::fstream(host_.folder() + "/page").write("damaged", 7);
  host_.start();
  host_.look(kNoon);
  EXPECT_TRUE(host_.add(1));
  EXPECT_FALSE(host_.add(1));
  EXPECT_TRUE(attached.follow());
  EXPECT_EQ(attached.seed(), host_.worker().seed()) << "it must not go on alone";
  EXPECT_EQ(segments_of(::getpid()), segments);
}

TEST_F(SeenKeeperTest, GoesOnInANewFolderWhereItsOwnOrThePageIsRemoved) {
  host_.look(kNoon);
  EXPECT_TRUE(host_.add(1));
  const auto segments = segments_of(::getpid());
  UnixSeconds now = kNoon;
  for (const std::string& removed :
       {seen_directory(host_.directory()), host_.folder(), host_.folder() + "/page"}) {
    std::filesystem::remove_all(removed);
    EXPECT_FALSE(host_.add(2)) << "there is no page";
    EXPECT_EQ(host_.look(++now).reason, "") << removed;
    EXPECT_TRUE(host_.worker().is_ready());
    EXPECT_FALSE(host_.add(1));
    EXPECT_EQ(segments_of(::getpid()), segments);
  }
  EXPECT_TRUE(host_.add(2));
  host_.start();
  EXPECT_EQ(host_.look(now + 1).reason, "");
  EXPECT_FALSE(host_.add(2));
}

TEST_F(SeenKeeperTest, GoesOnInANewFolderWhileItsOwnIsHidden) {
  host_.look(kNoon);
  EXPECT_EQ(host_.add_many(0, 500), 500U);
  const auto segments = segments_of(::getpid());
  {
    const MountedTmpfs over(seen_directory(host_.directory()), "1m");
    if (!over.is_there()) GTEST_SKIP() << "may not mount";
    EXPECT_EQ(host_.look(kNoon + 1).reason, "");
    EXPECT_EQ(host_.add_many(0, 600), 100U);
    EXPECT_EQ(segments_of(::getpid()), segments);
  }
  EXPECT_EQ(host_.look(kNoon + 2).reason, "");
  EXPECT_EQ(host_.add_many(0, 700), 100U);
  host_.start();
  EXPECT_EQ(host_.look(kNoon + 10 * kMinute).reason, "");
  EXPECT_EQ(host_.add_many(0, 700), 0U);
  EXPECT_EQ(segments_of(::getpid()), segments + 1);
}

TEST_F(SeenKeeperTest, BeginsWindowsAgainAfterItHadAsManyFiltersAsASetMayHave) {
  host_.config().windows = 256;
  host_.config().keys = 20;
  host_.config().fpr = 0.5;
  host_.start();
  std::uint64_t key = 0;
  int window = 0;
  for (; host_.look(kNoon + window * 10 * kMinute).reason.empty(); ++window) {
    ASSERT_LT(window, 256);
    for (int second = 1; second < 4; ++second) {
      host_.add_many(key, 60);
      key += 60;
      host_.look(kNoon + window * 10 * kMinute + second);
    }
  }
  EXPECT_THAT(host_.report().reason, HasSubstr("has 512 filters already"));
  EXPECT_EQ(host_.count_of(0, key), key);
  host_.look(kNoon + 257 * 10 * kMinute);
  EXPECT_EQ(host_.report().reason, "");
  EXPECT_EQ(newest().begins, kNoon + 257 * 10 * kMinute);
}

TEST_F(SeenKeeperTest, LeavesASetThatAnotherLoaderKeeps) {
  host_.look(kNoon);
  LoaderConfig loader;
  loader.directory = host_.directory();
  SeenKeeper second(clicks_config(), loader, nullptr);
  const SteadyTime now = std::chrono::steady_clock::now();
  second.look(now, {kNoon, 100});
  EXPECT_THAT(second.report().reason, HasSubstr("clicks/lock: locked: another loader is at work on it"));
  second.follow_clock(now + 2 * SeenKeeper::kPause, {kNoon, 100});
  EXPECT_THAT(second.report().reason, HasSubstr("locked")) << "until it has the lock";
  EXPECT_TRUE(host_.add(1));
  std::filesystem::remove(host_.folder() + "/lock");
  second.look(now + 4 * SeenKeeper::kPause, {kNoon, 100});
  EXPECT_THAT(second.report().reason, HasSubstr("clicks/page: locked: another loader is at work on it"));
  EXPECT_EQ(host_.look(kNoon + 1).reason, "");
  EXPECT_FALSE(host_.add(1));
  EXPECT_TRUE(host_.add(2));
}

// As another set does, whose look comes first and takes long.
TEST_F(SeenKeeperTest, IsOpenedThoughItsClockIsFollowedAgainAndAgain) {
  LoaderConfig loader;
  loader.directory = host_.directory();
  SeenKeeper keeper(clicks_config(), loader, nullptr);
  SteadyTime now = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; ++i) {
    keeper.follow_clock(now, {kNoon, 100});
    ASSERT_LE(keeper.due_at(), now);
  }
  keeper.look(now, {kNoon, 100});
  EXPECT_TRUE(host_.worker().is_ready());
  EXPECT_GT(keeper.due_at(), now);
}

TEST_F(SeenKeeperTest, SaysThatTheDirectoryIsNotThere) {
  LoaderConfig loader;
  loader.directory = host_.directory() + "/missing";
  SeenKeeper keeper(clicks_config(), loader, nullptr);
  keeper.look(std::chrono::steady_clock::now(), {kNoon, 100});
  EXPECT_THAT(keeper.report().reason, HasSubstr("missing/seen.d: No such file or directory"));
}

}  // namespace
}  // namespace keysieve::test
