#include <filesystem>
#include <utility>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/support/known_absent_sample.hpp"
#include "tests/support/matchers.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"

namespace keysieve::test {
namespace {

// Each value is the same, so that another one changes all.
SnapshotBytes build_map(KeyRange keys, std::uint32_t value, UnixSeconds as_of) {
  BuildSettings settings;
  settings.set_name = "tags";
  settings.as_of = as_of;
  settings.seed = {42};
  settings.kind = find_filter_kind("ribbon");
  MapValues values(1);
  const KeyHasher hasher(settings.seed);
  for (int i = 0; i < keys.count; ++i) values.add(0, hasher(key_number(keys.first + i)), value);
  static_cast<void>(values.finish());
  settings.values = &values;
  SnapshotBuilder builder(settings);
  for (int i = 0; i < keys.count; ++i) builder.add(key_number(keys.first + i));
  return builder.finish();
}

// Each guard at each door: a build, a push, a refresh, and the cache, as at a reboot with the store
// unreachable, after the configuration was tightened.
TEST_F(SetRefresherTest, LetsNothingPassThatAGuardRefusesAtAnyDoor) {
  struct Case {
    ErrorKind refusal;
    Guards guards;
    std::uint64_t max_bytes = 0;
  };
  const std::vector<Case> rows{
      {ErrorKind::MinKeys, {.min_keys = 2000, .max_shrink = {}, .max_changed = 1}},
      {ErrorKind::MaxShrink, {.max_shrink = 0.2, .max_changed = 1}},
      {ErrorKind::MaxChanged, {.max_shrink = {}, .max_changed = 0.5}},
      {ErrorKind::MaxFpr, {.max_shrink = {}, .max_fpr = 1e-12, .max_changed = 1}},
      {ErrorKind::RequiredKeys, {.max_shrink = {}, .max_changed = 1, .required_keys = {"no such key"}}},
      {ErrorKind::MaxSize, {.max_shrink = {}, .max_changed = 1}, 1024}};
  const auto begin_with = [this](const Case& row) {
    set_.guards = row.guards;
    set_.max_bytes = row.max_bytes;
    start();
  };
  const SnapshotBytes live = build_map(kKeys, 1, 1);
  const SnapshotBytes next = build_map(first_keys(500), 2, 2);
  const SnapshotView view = SnapshotView::decode(next.get(), "next", Check::Everything);
  const Baseline before = baseline_of(SnapshotView::decode(live.get(), "live", Check::Tables).header());
  site_.push(live);
  ASSERT_EQ(trouble(), Trouble::None);
  for (const Case& row : rows) {
    if (row.refusal == ErrorKind::MaxSize) continue;  // of loaders alone
    EXPECT_EQ(failure_of([&] { check_guards(row.guards, view, before); }), row.refusal);
    EXPECT_EQ(failure_of([&] { keysieve::push(*open_store(url_), view, row.guards); }), row.refusal);
  }
  EXPECT_THAT(open_store(url_)->keys_with_prefix("keysieve:"), SizeIs(2)) << "a chunk, and the pointer";
  site_.push(next);
  for (const Case& row : rows) {
    begin_with(row);
    EXPECT_THAT(refresh(), IsRefused());
    EXPECT_EQ(refused(row.refusal), 1U) << refresher_->outcome().reason;
    EXPECT_EQ(site_.live_generation("tags"), 1U);
    EXPECT_TRUE(site_.knows("tags", kKeys));
  }
  site_.wipe_shared_memory();
  site_.remove_store();
  for (const Case& row : rows) {
    if (row.refusal == ErrorKind::MaxShrink || row.refusal == ErrorKind::MaxChanged)
      continue;  // from nothing
    begin_with(row);
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

// push would refuse it as well, so the wrong snapshot is put into the cache.
TEST_F(SetRefresherTest, RefusesASnapshotThatAnswersMaybeForItsKnownAbsentKeys) {
  go_live();
  SnapshotBytes snapshot = build_with_known_absent("tags", kKeys, {9000, 500});
  site_.push(snapshot);
  put_into_sample(snapshot, {key_number(1)});
  SetCache(site_.cache(), "tags").save(2, snapshot.get());
  EXPECT_THAT(refresh(), IsRefused());
  EXPECT_EQ(site_.live_generation("tags"), 1U);
  EXPECT_EQ(report().history.front().known_absent, std::nullopt) << "of what was refused";
}

TEST_F(SetRefresherTest, AsksAgainWhenTheStoreIsAwayBeforeItSaysWhatAMapIsMeasuredBy) {
  for (const UnixSeconds as_of : {1, 2}) site_.push(build_map(first_keys(1), 1, as_of));
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
