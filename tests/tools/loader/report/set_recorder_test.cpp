#include "tools/loader/report/set_report.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace keysieve::test {
namespace {

class Recorder : public ::testing::Test {
 protected:
  static constexpr SteadyTime kNow{std::chrono::hours(1)};

  static LivePublication live(std::uint64_t publication, std::uint64_t generation) {
    LivePublication live;
    live.id = {7, publication};
    live.generation = generation;
    live.build_id = build(generation);
    live.layer = {1};
    live.key_count = 1000 * generation;
    live.known_absent = 5000 * generation;
    live.bytes = 4096;
    return live;
  }
  static BuildId build(std::uint64_t generation) {
    BuildId id{};
    id[0] = static_cast<BuildId::value_type>(generation);
    return id;
  }
  static SnapshotRecord record(std::uint64_t generation, std::uint64_t keys) {
    SnapshotRecord record;
    record.generation = generation;
    record.build_id = build(generation);
    record.key_count = keys;
    return record;
  }
  static RefreshOutcome state_of(const LivePublication& live) {
    RefreshOutcome outcome;
    outcome.live = live;
    return outcome;
  }
  using Events = std::vector<std::string_view>;
  [[nodiscard]] Events events() const {
    Events events;
    for (const HistoryEntry& entry : recorder_.report().history) events.push_back(entry.event);
    return events;
  }
  [[nodiscard]] std::uint64_t refused(ErrorKind refusal) const {
    for (std::size_t i = 0; i < kRefusals.size(); ++i) {
      if (kRefusals[i] == refusal) return recorder_.report().refused[i];
    }
    return 0;
  }

  SetRecorder recorder_{SetConfig{.name = "tags"}};
};

TEST_F(Recorder, RemembersWhatWasPublishedAndHowLongItTook) {
  recorder_.pulled(2.0);
  recorder_.published(live(1, 1), /*from_cache=*/false, 0.5, 2.0);
  recorder_.looked(state_of(live(1, 1)), 3);
  ASSERT_EQ(events(), Events{"published"}) << "what was published is not found once more";
  const HistoryEntry& entry = recorder_.report().history.front();
  EXPECT_EQ(entry.generation, 1U);
  EXPECT_EQ(entry.publication, 1U);
  EXPECT_EQ(entry.key_count, 1000U);
  EXPECT_EQ(entry.known_absent, 5000U);
  EXPECT_EQ(entry.pull_seconds, 2.0);
  EXPECT_EQ(entry.publish_seconds, 0.5);
  EXPECT_EQ(recorder_.report().pulls.sum(), 2.0);
  EXPECT_EQ(recorder_.report().publishes.count(), 1U);
  EXPECT_EQ(recorder_.report().adds_kept, 3U);

  recorder_.published(live(2, 1), /*from_cache=*/true, 0.1);
  EXPECT_EQ(recorder_.report().history.front().pull_seconds, std::nullopt) << "that of the one before";
}

TEST_F(Recorder, CountsNoRefusalOfAKindThatIsNone) {
  recorder_.refused(record(2, 10), ErrorKind::CannotCreate, "no memory");
  EXPECT_EQ(recorder_.report().refused, SetReport{}.refused);
  EXPECT_EQ(events(), Events{"refused"});
}

TEST_F(Recorder, TellsALargerLayerFromWhatOthersHavePublished) {
  recorder_.looked(state_of(live(1, 1)), 0);
  LivePublication larger = live(2, 1);
  larger.layer = {2};
  recorder_.looked(state_of(larger), 0);
  recorder_.looked(state_of(larger), 0);
  recorder_.looked(state_of(live(3, 0)), 0);
  EXPECT_EQ(events(), (Events{"found", "enlarged", "found"}));
}

TEST_F(Recorder, CountsEachRefusalOfABuildOnce) {
  recorder_.refused(record(2, 10), ErrorKind::MaxShrink, "shrank");
  recorder_.refused(record(2, 10), ErrorKind::MaxShrink, "shrank");
  EXPECT_EQ(refused(ErrorKind::MaxShrink), 1U);
  recorder_.refused(record(3, 10), ErrorKind::MaxShrink, "shrank");
  recorder_.refused(record(3, 10), ErrorKind::Data, "damaged");
  EXPECT_EQ(refused(ErrorKind::MaxShrink), 2U);
  EXPECT_EQ(refused(ErrorKind::Data), 1U);
  EXPECT_EQ(refused(ErrorKind::MinKeys), 0U);
  EXPECT_EQ(recorder_.report().history.size(), 3U);
  EXPECT_EQ(recorder_.report().history.front().reason, "damaged");
}

TEST_F(Recorder, KeepsTheNewestOfItsHistory) {
  for (std::uint64_t i = 1; i <= 2 * SetReport::kHistoryEntries; ++i) {
    recorder_.published(live(i, i), false, 0);
  }
  EXPECT_EQ(recorder_.report().history.size(), SetReport::kHistoryEntries);
  EXPECT_EQ(recorder_.report().history.front().generation, 2 * SetReport::kHistoryEntries);
}

TEST_F(Recorder, SaysSinceWhenTheStoreIsAhead) {
  recorder_.compared(record(2, 1200), /*is_live=*/false, kNow);
  recorder_.compared(record(3, 1300), false, kNow + std::chrono::minutes(1));
  EXPECT_EQ(recorder_.report().waiting_since, kNow) << "a newer generation does not restart the wait";
  EXPECT_EQ(recorder_.report().store_generation, 3U);
  recorder_.compared(record(3, 1300), true, kNow + std::chrono::minutes(2));
  EXPECT_EQ(recorder_.report().waiting_since, std::nullopt);
}

TEST_F(Recorder, ComparesTheKeysWithThoseThatWereLiveBefore) {
  recorder_.found(live(1, 4));
  EXPECT_EQ(recorder_.report().key_change, std::nullopt) << "nobody knows what was before";
  recorder_.refused(record(5, 100), ErrorKind::MaxShrink, "shrank");
  recorder_.published(live(2, 6), /*from_cache=*/false, 0);
  EXPECT_EQ(recorder_.report().key_change, 0.5) << "to generation 4, whatever was refused";
  recorder_.looked(state_of(live(3, 6)), 0);
  recorder_.published(live(4, 6), /*from_cache=*/true, 0);
  EXPECT_EQ(recorder_.report().key_change, 0.5) << "the same keys once more";
  recorder_.looked(state_of(live(5, 3)), 0);
  EXPECT_EQ(recorder_.report().key_change, -0.5) << "published by another hand";
  recorder_.published(live(6, 0), /*from_cache=*/false, 0);
  EXPECT_EQ(recorder_.report().key_change, -1.0);
  recorder_.published(live(7, 2), /*from_cache=*/false, 0);
  EXPECT_EQ(recorder_.report().key_change, std::nullopt) << "no share of nothing";
}

}  // namespace
}  // namespace keysieve::test
