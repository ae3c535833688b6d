#include "tools/transfer/rollback.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "core/base/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/tools/transfer/push_fixture.hpp"
#include "tests/tools/transfer/store_decorator.hpp"

namespace keysieve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Rollback : public test::PushFixture {
 protected:
  // Generations 1, 2 and 3, of 1000, 1100 and 1200 keys.
  Rollback() {
    for (const SnapshotBytes& snapshot : snapshots_) push(snapshot);
  }

  RollbackResult roll_back(std::optional<std::uint64_t> to = {}) {
    return rollback(*store_, "tags", plan_rollback(*store_, "tags", to));
  }

  [[nodiscard]] std::vector<std::uint64_t> older_generations() const {
    std::vector<std::uint64_t> generations;
    for (const SnapshotRecord& older : pointer().previous) generations.push_back(older.generation);
    return generations;
  }

  void expect_current(const SnapshotBytes& snapshot) {
    EXPECT_TRUE(std::ranges::equal(pull(*store_, "tags").snapshot.get(), snapshot.get()));
  }

  const std::vector<SnapshotBytes> snapshots_ = [] {
    std::vector<SnapshotBytes> snapshots;
    snapshots.push_back(test::build_snapshot({.keys = 1000, .shard_count = test::kShardsOfSomeChunks}));
    snapshots.push_back(test::build_snapshot({.keys = 1100}));
    snapshots.push_back(test::build_snapshot({.keys = 1200}));
    return snapshots;
  }();
};

TEST_F(Rollback, BringsBackTheGenerationBeforeUnderANewNumber) {
  const SnapshotRecord second = pointer().previous.at(0);
  const RollbackResult result = roll_back();
  EXPECT_THAT(result.warnings, IsEmpty());
  EXPECT_EQ(result.record, current());
  SnapshotRecord expected = second;
  expected.generation = 4;
  expected.restores = 2;
  EXPECT_EQ(current(), expected);
  expect_current(snapshots_[1]);
  EXPECT_THAT(older_generations(), ElementsAre(3, 1)) << "2 is 4 now";
  EXPECT_THAT(keys(), SizeIs(3 + 1 + 1 + 1)) << "the chunks of each, and the pointer";
}

TEST_F(Rollback, BringsBackAnyKeptGeneration) {
  EXPECT_EQ(roll_back(1).record.restores, 1U);
  expect_current(snapshots_[0]);
  EXPECT_THAT(older_generations(), ElementsAre(3, 2));
}

TEST_F(Rollback, CanItselfBeRolledBack) {
  roll_back(1);
  EXPECT_EQ(roll_back().record.restores, 3U);
  expect_current(snapshots_[2]);
  EXPECT_EQ(roll_back(2).record.generation, 6U);
  expect_current(snapshots_[1]);
  EXPECT_THAT(older_generations(), ElementsAre(5, 4));
}

TEST_F(Rollback, IsFollowedByAPushAsAnyGenerationIs) {
  roll_back(1);
  const auto next = test::build_snapshot();
  EXPECT_EQ(push(next).record.generation, 5U);
  EXPECT_EQ(current().restores, 0U);
  EXPECT_THAT(older_generations(), ElementsAre(4, 3));
  EXPECT_EQ(roll_back().record.restores, 4U);
  expect_current(snapshots_[0]);
}

TEST_F(Rollback, StaysOneWhenItsBuildIsPushedAgain) {
  roll_back(1);
  EXPECT_EQ(push(snapshots_[0]).record.generation, 4U);
  EXPECT_EQ(current().restores, 1U);
  expect_current(snapshots_[0]);
}

TEST_F(Rollback, ToABuildThatIsKeptIsWhatAPushOfItIsToo) {
  EXPECT_EQ(push(snapshots_[1], {.max_shrink = std::nullopt}).record.generation, 4U);
  EXPECT_EQ(current().restores, 0U);
  expect_current(snapshots_[1]);
}

TEST_F(Rollback, IsRefusedToWhatIsCurrentOrNotKept) {
  EXPECT_EQ(test::message_of<ErrorKind::Usage>([&] { roll_back(3); }),
            url_ + ": set \"tags\": generation 3 is current; kept: 3 (current), 2, 1");
  for (const std::uint64_t other : {0U, 4U}) {
    EXPECT_EQ(test::message_of<ErrorKind::Usage>([&] { roll_back(other); }),
              url_ + ": set \"tags\": generation " + std::to_string(other) +
                  " is not kept; kept: 3 (current), 2, 1");
  }
  EXPECT_EQ(current().generation, 3U);
}

TEST_F(Rollback, IsRefusedWhereNothingOlderIsKept) {
  push(test::build_snapshot({.set_name = "shop"}));
  EXPECT_THAT(test::message_of<ErrorKind::MissingInput>([&] { plan_rollback(*store_, "shop"); }),
              HasSubstr("nothing older is kept; kept: 1 (current)"));
  EXPECT_THAT(test::message_of<ErrorKind::MissingInput>([&] { plan_rollback(*store_, "none"); }),
              HasSubstr("set \"none\" was never pushed"));
}

TEST_F(Rollback, IsRefusedToADamagedGeneration) {
  const std::string key = chunk_key("keysieve", "tags", pointer().previous.at(1).push_id, 2);
  std::string damaged = store_->get(key).value();
  damaged.back() ^= 1;
  store_->put_many(std::vector<Record>{{key, damaged}});
  EXPECT_THAT(test::message_of<ErrorKind::Data>([&] { roll_back(1); }), HasSubstr("is damaged (checksum)"));
  store_->remove_many(std::vector{key});
  EXPECT_EQ(
      test::message_of<ErrorKind::Data>([&] { roll_back(1); }),
      url_ + ": set \"tags\" generation 1: is damaged and cannot be rolled back to: " + key + " is missing");
  EXPECT_EQ(current().generation, 3U);
}

TEST_F(Rollback, IsRefusedWhenSomethingElseBecameCurrentSinceItWasPlanned) {
  const RollbackPlan plan = plan_rollback(*store_, "tags", 2);
  push(test::build_snapshot({.keys = 1300}));
  EXPECT_THAT(test::message_of<ErrorKind::Locked>([&] { rollback(*store_, "tags", plan); }),
              HasSubstr("meanwhile; look again"));
  EXPECT_EQ(current().generation, 4U);
}

TEST_F(Rollback, IsRefusedWhenItsTargetFellOutSinceItWasPlanned) {
  const RollbackPlan plan = plan_rollback(*store_, "tags", 1);
  push(test::build_snapshot({.keys = 1300}));
  EXPECT_THAT([&] { rollback(*store_, "tags", plan); }, test::fails(ErrorKind::Locked));
  EXPECT_EQ(current().generation, 4U);
}

// Lets somebody else go first, right before the pointer moves.
class LosingTheRace : public test::StoreDecorator {
 public:
  LosingTheRace(Store& inner, std::function<void()> rival)
      : StoreDecorator(inner), rival_(std::move(rival)) {}

  bool compare_and_set(const Record& record, const std::optional<std::string>& expected) override {
    if (rival_) std::exchange(rival_, nullptr)();
    return inner_.compare_and_set(record, expected);
  }

 private:
  std::function<void()> rival_;
};

TEST_F(Rollback, GoesOnWhenAPushIsOnlyAnnouncedMeanwhile) {
  LosingTheRace store(*store_, [this] {
    PointerRecord changed = pointer();
    changed.pending.push_back({.chunk_count = 1, .started_at = unix_now()});
    store_->put_many(std::vector<Record>{{"keysieve:tags:current", encode(changed)}});
  });
  EXPECT_EQ(rollback(store, "tags", plan_rollback(store, "tags")).record.generation, 4U);
  EXPECT_THAT(pointer().pending, SizeIs(1));
}

TEST_F(Rollback, LosesToAPushThatIsDoneMeanwhile) {
  LosingTheRace store(*store_, [this] { push(test::build_snapshot({.keys = 1300})); });
  EXPECT_THAT([&] { rollback(store, "tags", plan_rollback(store, "tags")); }, test::fails(ErrorKind::Locked));
  EXPECT_EQ(current().generation, 4U);
}

TEST_F(Rollback, AgreesWithARivalThatDoesTheSame) {
  LosingTheRace store(*store_, [this] { roll_back(2); });
  EXPECT_EQ(rollback(store, "tags", plan_rollback(store, "tags", 2)).record.generation, 4U);
  EXPECT_EQ(current().generation, 4U);
}

}  // namespace
}  // namespace keysieve
