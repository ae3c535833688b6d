// Push and the adds log.
#include <chrono>
#include <filesystem>
#include <thread>

#include "core/builder/base/log_positions.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/tools/transfer/transfer_fixture.hpp"
#include "tools/transfer/adds_log.hpp"

namespace keysieve::test {
namespace {

class PushAndAdds : public TransferTest {
 protected:
  PushAndAdds() {
    for (const std::string key : {"a", "b", "c", "d", "e"}) positions_.push_back(append(*store_, {key}));
  }

  // A snapshot that holds all keys added up to this position.
  static SnapshotBytes built_at(const LogPosition& adds_from) {
    return build_snapshot({.adds_from = adds_from});
  }
  [[nodiscard]] std::vector<std::string> logged_keys() const { return keys_in(*store_); }

  std::vector<LogPosition> positions_;
};

TEST_F(PushAndAdds, KeepsTheEntriesThatAnyKeptGenerationNeeds) {
  for (const std::size_t i : {0U, 1U, 2U}) push(built_at(positions_[i]));
  EXPECT_THAT(logged_keys(), ElementsAre("b", "c", "d", "e")) << "generation 1 has all up to a";
  EXPECT_EQ(pointer().adds_trimmed_to, positions_[0]);
  push(built_at(positions_[4]));
  EXPECT_THAT(logged_keys(), ElementsAre("c", "d", "e")) << "generation 2 has all up to b";
  EXPECT_EQ(current().adds_from, positions_[4]);
}

TEST_F(PushAndAdds, KeepsAllEntriesForAGenerationBuiltWithoutTheLog) {
  EXPECT_THAT(push(built_at({})).warnings, ElementsAre(HasSubstr("needs the adds log from its beginning")));
  EXPECT_THAT(push(built_at(positions_[4])).warnings, IsEmpty());
  EXPECT_THAT(logged_keys(), ElementsAre("a", "b", "c", "d", "e"));
}

TEST_F(PushAndAdds, RefusesASnapshotThatNeedsTrimmedEntries) {
  push(built_at(positions_[3]));
  const auto older = built_at(positions_[1]);
  EXPECT_EQ(failure_of([&] { push(older); }), ErrorKind::Data);
  EXPECT_EQ(failure_of([&] { push_any(older); }), ErrorKind::Data) << "nor without guards";
  EXPECT_FALSE(has_chunks_of(older));
}

TEST_F(PushAndAdds, GoesByTheAsOfOfASnapshotBuiltWithoutTheLog) {
  const Guards any_as_of{.allow_any_as_of = true};
  push(built_at(positions_[3]));
  const UnixSeconds overlap = std::chrono::seconds(kDefaultAddsOverlap).count();
  const UnixSeconds trimmed_at = static_cast<UnixSeconds>(milliseconds_of(positions_[3]) / 1000);
  for (const UnixSeconds too_early : {UnixSeconds{5}, trimmed_at - 3600, trimmed_at + overlap}) {
    EXPECT_EQ(failure_of([&] { push(build_snapshot({.as_of = too_early}), any_as_of); }), ErrorKind::Data)
        << too_early;
  }
  EXPECT_EQ(push(build_snapshot({.as_of = trimmed_at + overlap + 1}), any_as_of).record.generation, 2U);
}

TEST_F(PushAndAdds, PushesAKeptBuildAgainWhateverIsTrimmed) {
  const auto first = built_at(positions_[1]);
  push(first);
  push(built_at(positions_[4]));
  EXPECT_EQ(push(first).record.generation, 3U);
  EXPECT_THAT(logged_keys(), ElementsAre("c", "d", "e"));
}

// Three newer builds were pushed meanwhile, and what only this one needs is trimmed.
TEST_F(PushAndAdds, IsRefusedIfEntriesThatItNeedsAreTrimmedWhileItRuns) {
  hooked_.after_put = once([this] {
    for (int i = 0; i < 3; ++i) push(built_at(positions_[3]));
  });
  const auto older = built_at(positions_[0]);
  EXPECT_EQ(failure_of([&] { push_hooked(older); }), ErrorKind::Data);
  EXPECT_EQ(current().generation, 3U);
  EXPECT_FALSE(has_chunks_of(older));
}

TEST_F(PushAndAdds, NotesTheLogAsItIsThoughAnotherPushComesInBetween) {
  hooked_.after_put = once([this] {
    append(*store_, {"f"});
    push(built_at(positions_[3]));
  });
  push_hooked(built_at(positions_[3]));
  EXPECT_EQ(pointer().adds_log.ordinal, 6U);
  EXPECT_EQ(pointer().adds_log.lost_to, kBeforeAll);
}

// As when an older copy of the store was restored.
TEST_F(PushAndAdds, IsRefusedUntilALaterBuildIfTheLogHasLostKeys) {
  const std::filesystem::path log = directory_ / "store/.log-keysieve:tags:adds";
  std::filesystem::copy_file(log, log.string() + ".older");
  append(*store_, {"f"});
  push(built_at(positions_[4]));
  std::filesystem::rename(log.string() + ".older", log);
  const auto older = build_snapshot({.keys = 1001, .adds_from = positions_[4]});
  EXPECT_EQ(failure_of([&] { plan_push(*store_, view_of(older), {}); }), ErrorKind::Data);
  EXPECT_EQ(pointer().adds_log.lost_to, kBeforeAll) << "a plan writes nothing";
  EXPECT_EQ(failure_of([&] { push(older); }), ErrorKind::Data);
  const LogPosition lost_to = pointer().adds_log.lost_to;
  EXPECT_GT(lost_to, positions_[4]);
  append(*store_, {"g"});
  EXPECT_EQ(failure_of([&] { push(older); }), ErrorKind::Data);
  EXPECT_EQ(pointer().adds_log.lost_to, lost_to) << "no build would ever be late enough";
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const LogPosition from = adds_from(*store_, "tags", std::nullopt, std::chrono::milliseconds(0));
  EXPECT_EQ(push(build_snapshot({.keys = 1001, .adds_from = from})).record.generation, 2U);
  EXPECT_EQ(pointer().adds_log.ordinal, 6U);
}

class StoreThatMayNotBeMarked : public StoreDecorator {
 public:
  using StoreDecorator::StoreDecorator;
  void mark(const std::string& log) override { throw Error(ErrorKind::Permission, log + ": no right"); }
};

TEST_F(PushAndAdds, OnlyWarnsIfItMayNotBeginTheLog) {
  StoreThatMayNotBeMarked store(*store_);
  const auto shop = build_snapshot({.set_name = "shop"});
  EXPECT_THAT(keysieve::push(store, view_of(shop), {}).warnings, ElementsAre(HasSubstr("nobody may notice")));
  EXPECT_EQ(adds_from(store, "tags", std::nullopt, std::chrono::milliseconds(0)),
            log_position(milliseconds_of(positions_[4]), 0))
      << "nor does a build need it";
}

constexpr std::int64_t kReadAtMs = 1'700'000'000'000;
constexpr std::uint64_t kNowMs = kReadAtMs;
constexpr std::uint64_t kTenMinutes = 600'000;

// A store whose log ends where the case says, no matter which clock numbered it.
class StoreWithLogEnd : public StoreDecorator {
 public:
  StoreWithLogEnd(Store& inner, LogPosition end) : StoreDecorator(inner), end_(end) {}
  LogFacts facts_of(const std::string& log) override {
    EXPECT_EQ(log, kLog);
    return {.end = end_};
  }

 private:
  LogPosition end_;
};

class AddsFrom : public TransferTest {
 protected:
  [[nodiscard]] LogPosition adds_from_with(const LogPosition& end_of_log,
                                           std::chrono::milliseconds overlap) const {
    StoreWithLogEnd store(*store_, end_of_log);
    return adds_from(store, "tags", kReadAtMs, overlap);
  }
};

TEST_F(AddsFrom, IsTheOverlapBeforeTheEarlierOfOurClockAndTheStores) {
  const LogPosition end = log_position(kNowMs, 7);
  const std::uint64_t behind = kNowMs - 61 * 60'000;  // an entry of a minute ago, by a clock an hour behind
  struct Row {
    const char* what;
    LogPosition end_of_log;
    std::chrono::milliseconds overlap;
    LogPosition expected;
  };
  for (const auto& [what, end_of_log, overlap, expected] : std::vector<Row>{
           {"the set has no log or has lost it", {}, kDefaultAddsOverlap, {}},
           {"both clocks agree", end, kDefaultAddsOverlap, log_position(kNowMs - kTenMinutes, 0)},
           {"another overlap", end, std::chrono::milliseconds(1), log_position(kNowMs - 1, 0)},
           {"no overlap", log_position(kNowMs - 5, 7), std::chrono::milliseconds(0),
            log_position(kNowMs - 5, 0)},
           {"the store's clock is ahead", log_position(2 * kNowMs, 0), kDefaultAddsOverlap,
            log_position(kNowMs - kTenMinutes, 0)},
           {"it is behind", log_position(behind, 3), kDefaultAddsOverlap,
            log_position(behind - kTenMinutes, 0)},
           {"the log began later", log_position(kTenMinutes - 1, 9), kDefaultAddsOverlap, {}},
           {"an overlap without end", log_position(kNowMs, 0), std::chrono::milliseconds::max(), {}}}) {
    EXPECT_EQ(adds_from_with(end_of_log, overlap), expected) << what;
  }
}

}  // namespace
}  // namespace keysieve::test
