#include <filesystem>
#include <utility>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/support/known_absent_sample.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"

namespace keysieve::test {
namespace {

// Each limit, where the next generation is pulled, and where the cached one is published: as at a reboot with
// the store unreachable, after the configuration was tightened.
TEST_F(SetRefresherTest, PublishesNothingThatAGuardRefusesFromStoreOrCache) {
  struct Case {
    ErrorKind refusal;
    Guards guards;
    std::uint64_t max_bytes = 0;
  };
  const std::vector<Case> cases{
      {ErrorKind::MinKeys, {.min_keys = 2000, .max_shrink = 1.0}},
      {ErrorKind::MaxShrink, {.max_shrink = 0.2}},
      {ErrorKind::MaxFpr, {.max_shrink = 1.0, .max_fpr = 1e-12}},
      {ErrorKind::RequiredKeys, {.max_shrink = 1.0, .required_keys = {"no such key"}}},
      {ErrorKind::MaxSize, {.max_shrink = 1.0}, 1024}};
  const auto begin_with = [this](const Case& limit) {
    set_.guards = limit.guards;
    set_.max_bytes = limit.max_bytes;
    start();
  };
  go_live();
  site_.push("tags", first_keys(500), site_.store_url(), 0.3);
  for (const Case& limit : cases) {
    begin_with(limit);
    EXPECT_THAT(refresh(), IsRefused());
    EXPECT_EQ(refused(limit.refusal), 1U) << refresher_->outcome().reason;
    EXPECT_EQ(site_.live_generation("tags"), 1U);
    EXPECT_TRUE(site_.knows("tags", kKeys));
  }
  site_.wipe_shared_memory();
  site_.remove_store();
  for (const Case& limit : cases) {
    if (limit.refusal == ErrorKind::MaxShrink) continue;  // from nothing
    begin_with(limit);
    EXPECT_EQ(trouble(), Trouble::StoreUnreachable);
    EXPECT_EQ(site_.live("tags"), std::nullopt) << refresher_->outcome().reason;
  }
  begin_with({});
  refresh();
  EXPECT_EQ(site_.live_generation("tags"), 1U);
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
  EXPECT_THAT(refresh(), IsRefused());
  EXPECT_EQ(site_.live_generation("tags"), 1U);
  EXPECT_EQ(report().history.front().known_absent, std::nullopt) << "of what was refused";
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

// The next build is compared with the one before it, which this host has missed, not refused.
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
  EXPECT_THAT(refresh(), IsRefused());
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

}  // namespace
}  // namespace keysieve::test
