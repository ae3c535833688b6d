#include <filesystem>
#include <utility>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/support/known_absent_sample.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"
#include "tools/transfer/rollback.hpp"

namespace keysieve::test {
namespace {

TEST_F(SetRefresherTest, KeepsTheLiveGenerationWhenAGuardRefusesTheNext) {
  struct Case {
    const char* name;
    Guards guards;
    std::uint64_t max_bytes;
    const char* reason;
  };
  const std::vector<Case> cases{
      {"min_keys", {.min_keys = 600, .max_shrink = 1.0}, 0, "fewer than 600"},
      {"max_shrink", {.min_keys = 1, .max_shrink = 0.2}, 0, "shrank from"},
      {"max_fpr", {.min_keys = 1, .max_shrink = 1.0, .max_fpr = 1e-12}, 0, "estimated FPR"},
      {"required_keys", {.min_keys = 1, .max_shrink = 1.0, .required_keys = {"key-900"}}, 0, "key-900"},
      {"max_size", {.min_keys = 1, .max_shrink = 1.0}, 4096, "above the limit"}};
  go_live();
  site_.push("tags", first_keys(500), site_.store_url(), 0.3);
  for (const Case& wrong : cases) {
    set_.guards = wrong.guards;
    set_.max_bytes = wrong.max_bytes;
    start();
    const RefreshOutcome& outcome = refresh();
    EXPECT_EQ(outcome.trouble, Trouble::Refused) << wrong.name;
    EXPECT_EQ(outcome.exit_status, 65) << wrong.name;
    EXPECT_EQ(outcome.live->generation, 1U) << wrong.name;
    EXPECT_EQ(outcome.reason.substr(0, 22), "generation 2 refused: ");
    EXPECT_NE(outcome.reason.find(wrong.reason), std::string::npos) << outcome.reason;
    EXPECT_TRUE(site_.knows("tags", kKeys)) << wrong.name;
  }
}

// The chunks are gone after the first look, so that a second pull would be noticed.
TEST_F(SetRefresherTest, DoesNotPullABuildAgainThatAGuardRefused) {
  go_live();
  const SnapshotRecord refused = site_.push("tags", first_keys(500));
  const std::string reason = refresh().reason;
  site_.damage("tags", refused);
  EXPECT_EQ(refresh().reason, reason);
  refresher_->try_again_now();
  EXPECT_NE(refresh().reason, reason) << "somebody has asked for it";
  site_.push("tags", kMoreKeys);
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(site_.live_generation("tags"), 3U);
}

// The store has lost its records, so there is only what is live to measure by.
TEST_F(SetRefresherTest, ComparesARefusedBuildWithWhatIsLiveAgainWhenToldTo) {
  go_live();
  std::filesystem::remove_all(site_.root() / "store");
  site_.push("tags", first_keys(500));
  EXPECT_EQ(trouble(), Trouble::Refused);
  site_.wipe_shared_memory();
  SetCache(site_.cache(), "tags").save(1, build_snapshot("tags", first_keys(550)).get());
  EXPECT_EQ(trouble(), Trouble::Refused);
  EXPECT_EQ(site_.live("tags")->key_count, 550U);
  refresher_->try_again_now();
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(site_.live("tags")->key_count, 500U);
}

constexpr KeyRange kFarKeys{9000, 500};

// push would refuse it as well, so the wrong snapshot is put into the cache.
TEST_F(SetRefresherTest, RefusesASnapshotThatAnswersMaybeForItsKnownAbsentKeys) {
  go_live();
  SnapshotBytes snapshot = build_with_known_absent("tags", kKeys, kFarKeys);
  site_.push(snapshot);
  put_into_sample(snapshot, {key_number(1)});
  SetCache(site_.cache(), "tags").save(2, snapshot.get());
  expect_refusal("set \"tags\" answers maybe for 1 of the ");
  EXPECT_EQ(site_.live_generation("tags"), 1U);
  EXPECT_EQ(recorder_.report().history.front().known_absent, std::nullopt) << "of what was refused";
}

// The loader was cut off in between: its peers, which have seen all of these, have what is current.
TEST_F(SetRefresherTest, TakesWhatShrankByLittleEachTimeThoughItMissedATime) {
  go_live();
  site_.push("tags", first_keys(850));
  site_.push("tags", first_keys(723));
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(site_.live_generation("tags"), 3U);
}

// The next night's list is as short as the one before, which was pushed with --allow-shrink.
TEST_F(SetRefresherTest, DoesNotMeasureByWhatItHasRefused) {
  go_live();
  site_.push("tags", first_keys(500));
  EXPECT_EQ(trouble(), Trouble::Refused);
  site_.push("tags", first_keys(500));
  expect_refusal("shrank from 1,000 to 500");
  EXPECT_EQ(site_.live_generation("tags"), 1U);
  site_.push("tags", first_keys(900));
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(site_.live_generation("tags"), 4U);
}

TEST_F(SetRefresherTest, TakesThePushAfterARollbackThatItMissed) {
  site_.push("tags", first_keys(5000));
  site_.push("tags", first_keys(10000));
  refresh();
  site_.roll_back("tags");
  site_.push("tags", first_keys(5001));
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(site_.live_generation("tags"), 4U);
}

// As its peers do, which had the larger generation.
TEST_F(SetRefresherTest, RefusesWhatShrankFromAGenerationThatItMissed) {
  go_live();
  site_.push("tags", kTwiceAsManyKeys);
  site_.push("tags", kKeys);
  expect_refusal("shrank from 2,000 to 1,000");
}

SnapshotBytes build_map(UnixSeconds as_of) {
  BuildSettings settings;
  settings.set_name = "tags";
  settings.as_of = as_of;
  settings.seed = {42};
  settings.kind = find_filter_kind("ribbon");
  MapValues values(1);
  values.add(0, KeyHasher(settings.seed)("key"), 1);
  static_cast<void>(values.finish());
  settings.values = &values;
  SnapshotBuilder builder(settings);
  builder.add("key");
  return builder.finish();
}

TEST_F(SetRefresherTest, AsksAgainWhenTheStoreIsAwayBeforeItSaysWhatAMapIsMeasuredBy) {
  for (const UnixSeconds as_of : {1, 2}) site_.push(build_map(as_of));
  events_.before_fetch = [calls = 0]() mutable {
    if (++calls == 2) lose_connection();
  };
  EXPECT_EQ(trouble(), Trouble::StoreUnreachable);
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(site_.live_generation("tags"), 2U);
}

// What comes next is measured by the generation before it, which this host has missed, not refused.
TEST_F(SetRefresherTest, LooksAgainWhenAPushOvertakesIt) {
  go_live();
  const SnapshotRecord overtaken = site_.push("tags", first_keys(850));
  events_.before_fetch = [&, is_first = true]() mutable {
    if (!std::exchange(is_first, false)) return;
    site_.push("tags", first_keys(723));
    site_.remove_chunk("tags", overtaken);
  };
  EXPECT_EQ(trouble(), Trouble::None) << "as before";
  EXPECT_EQ(site_.live_generation("tags"), 1U);
  EXPECT_TRUE(refresher_->has_more());
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(site_.live_generation("tags"), 3U);
  EXPECT_FALSE(refresher_->has_more());
}

TEST_F(SetRefresherTest, RefusesABuildOfWhichAChunkStaysMissing) {
  go_live();
  site_.remove_chunk("tags", site_.push("tags", kMoreKeys));
  refresh();
  EXPECT_TRUE(refresher_->has_more());
  expect_refusal("set \"tags\" generation 2: is damaged, push again");
  EXPECT_FALSE(refresher_->has_more());
  EXPECT_EQ(site_.live_generation("tags"), 1U);
}

// A folder that is copied bit by bit is whole only later; until then, every look would pull in vain. Another
// build does not wait with it.
TEST_F(SetRefresherTest, TriesADamagedBuildAgainAfterABackoffAtOnceWhenToldToAndAnotherBuildAtOnce) {
  SteadyTime now = kStart;
  const auto refresh_after = [&](int milliseconds) {
    return refresher_->refresh(now += Milliseconds(milliseconds)).trouble;
  };
  for (const bool is_told_to : {false, true}) {
    const SnapshotRecord record = site_.push("tags", kKeys);
    site_.damage("tags", record);
    EXPECT_EQ(refresh_after(1), Trouble::Refused);
    site_.damage("tags", record);  // the same bit again: whole
    EXPECT_EQ(refresh_after(500), Trouble::Refused);
    if (is_told_to) refresher_->try_again_now();
    EXPECT_EQ(refresh_after(is_told_to ? 1 : 700), Trouble::None);
  }
  site_.damage("tags", site_.push("tags", kKeys));
  EXPECT_EQ(refresh_after(1), Trouble::Refused);
  site_.push("tags", kMoreKeys);
  EXPECT_EQ(refresh_after(1), Trouble::None);
}

// The pointer record of an earlier push, as a replica that lags behind would still have it.
TEST_F(SetRefresherTest, RefusesAnOlderGeneration) {
  site_.push("tags", kKeys);
  const std::string key = "keysieve:tags:current";
  const std::string older = open_store(site_.store_url())->get(key).value();
  site_.push("tags", kTwiceAsManyKeys);
  EXPECT_EQ(trouble(), Trouble::None);
  const Record stale{key, older};
  open_store(site_.store_url())->put_many({&stale, 1});
  expect_refusal("copy that lags behind");
  EXPECT_EQ(site_.live_generation("tags"), 2U);
  EXPECT_TRUE(site_.knows("tags", kTwiceAsManyKeys));
}

// The live generation was brought back, so its own moment is older than that of the generation rolled back
// from, which this host may have missed.
TEST_F(SetRefresherTest, RefusesTheGenerationThatWasRolledBackFromAfterARestartToo) {
  const std::string key = "keysieve:tags:current";
  for (const bool has_missed_it : {false, true}) {
    site_.push("tags", kKeys);
    site_.push("tags", kTwiceAsManyKeys);
    if (!has_missed_it) refresh();
    const std::string before = open_store(site_.store_url())->get(key).value();
    const std::uint64_t rolled_back = site_.roll_back("tags").generation;
    EXPECT_EQ(trouble(), Trouble::None);
    const Record stale{key, before};
    const std::string current = open_store(site_.store_url())->get(key).value();
    open_store(site_.store_url())->put_many({&stale, 1});
    EXPECT_EQ(trouble(), Trouble::Refused);
    start();
    EXPECT_EQ(trouble(), Trouble::Refused);
    site_.wipe_shared_memory();
    start();
    EXPECT_EQ(trouble(), Trouble::Refused);
    EXPECT_EQ(site_.live_generation("tags"), rolled_back) << "from the cache";
    const Record right{key, current};
    open_store(site_.store_url())->put_many({&right, 1});
  }
}

// A store without persistence counts from 1 again.
TEST_F(SetRefresherTest, TakesALowerGenerationThatIsNewerByItsMoment) {
  site_.push("tags", kKeys);
  site_.push("tags", kMoreKeys);
  refresh();
  std::filesystem::remove_all(site_.root() / "store");
  site_.push("tags", first_keys(1200));
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(site_.live_generation("tags"), 1U);
  EXPECT_TRUE(site_.knows("tags", first_keys(1200)));
  EXPECT_EQ(SetCache(site_.cache(), "tags").find().value().generation, 1U);
}

constexpr KeyRange kAddedBefore =
    added_keys(100);  // in the new generation's time held by its base: not so here
constexpr KeyRange kAddedAfter = later_keys(100);

class SetRefresherRollback : public SetRefresherTest {
 protected:
  // Generation 2 is live, which has twice as many keys as 1, and keys were added during both.
  SetRefresherRollback() {
    site_.push("tags", kKeys);
    refresh();
    site_.add("tags", kAddedBefore);
    refresh();
    site_.push_after_adds("tags", kTwiceAsManyKeys);
    refresh();
    site_.add("tags", kAddedAfter);
    refresh();
    EXPECT_EQ(site_.live_generation("tags"), 2U);
    EXPECT_FALSE(site_.knows("tags", kAddedBefore));
  }
};

TEST_F(SetRefresherRollback, PublishesTheOldKeysWithAllThatWasAddedSince) {
  site_.roll_back("tags");
  const RefreshOutcome& outcome = refresh();
  EXPECT_TRUE(outcome.is_good()) << outcome.reason;
  EXPECT_EQ(site_.live_generation("tags"), 3U);
  EXPECT_EQ(outcome.live->key_count, 1000U);
  EXPECT_TRUE(site_.knows("tags", kKeys));
  EXPECT_FALSE(site_.knows("tags", kTwiceAsManyKeys));
  EXPECT_TRUE(site_.knows("tags", kAddedBefore));
  EXPECT_TRUE(site_.knows("tags", kAddedAfter));
}

// A replica that still keeps what the host has forgotten becomes the store.
TEST_F(SetRefresherRollback, ReadsAgainWhatWasForgotten) {
  const std::filesystem::path store = site_.root() / "store";
  const std::filesystem::path replica = site_.root() / "replica";
  site_.push_after_adds("tags", kTwiceAsManyKeys);
  std::filesystem::copy(store, replica, std::filesystem::copy_options::recursive);
  site_.push_after_adds("tags", kTwiceAsManyKeys);
  EXPECT_EQ(trouble(), Trouble::None);
  std::filesystem::remove_all(store);
  std::filesystem::rename(replica, store);
  const auto opened = open_store(url_);
  rollback(*opened, "tags", plan_rollback(*opened, "tags", 1));
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_TRUE(site_.knows("tags", kAddedBefore));
  EXPECT_TRUE(site_.knows("tags", kAddedAfter));
}

TEST_F(SetRefresherRollback, AsksTheOtherGuards) {
  set_.guards.min_keys = 1500;
  start();
  site_.roll_back("tags");
  expect_refusal("fewer than 1,500");
  EXPECT_EQ(site_.live_generation("tags"), 2U);
}

TEST_F(SetRefresherTest, TakesTheLiveSnapshotAgainFromAStoreThatHadLostIt) {
  site_.push("tags", kKeys);
  go_live();
  const Pulled live = pull(*open_store(site_.store_url()), "tags");
  std::filesystem::remove_all(site_.root() / "store");
  push(*open_store(site_.store_url(), IfMissing::Create),
       SnapshotView::decode(live.snapshot.get(), "live", Check::Tables), {});
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(site_.live_generation("tags"), 1U);
}

}  // namespace
}  // namespace keysieve::test
