#include "tools/transfer/rollback.hpp"

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/tools/transfer/transfer_fixture.hpp"
#include "tools/transfer/store_bypass.hpp"

namespace keysieve::test {
namespace {

class Rollback : public TransferTest {
 protected:
  // Generations 1, 2 and 3, of 1000, 1100 and 1200 keys.
  Rollback() {
    for (const SnapshotBytes& snapshot : snapshots_) push(snapshot);
  }

  SnapshotRecord roll_back(std::optional<std::uint64_t> to = {}) {
    return rollback(*store_, "tags", plan_rollback(*store_, "tags", to));
  }

  const std::vector<SnapshotBytes> snapshots_ = [] {
    std::vector<SnapshotBytes> snapshots;
    snapshots.push_back(build_snapshot({.keys = 1000, .shard_count = kShardsOfSomeChunks}));
    snapshots.push_back(build_snapshot({.keys = 1100}));
    snapshots.push_back(build_snapshot({.keys = 1200}));
    return snapshots;
  }();
};

TEST_F(Rollback, BringsBackTheGenerationBeforeUnderANewNumber) {
  const SnapshotRecord second = pointer().previous.at(0);
  const SnapshotRecord record = roll_back();
  EXPECT_EQ(record, current());
  SnapshotRecord expected = second;
  expected.generation = 4;
  expected.restores = 2;
  EXPECT_EQ(current(), expected);
  expect_current(snapshots_[1]);
  EXPECT_THAT(older_generations(), ElementsAre(3, 1)) << "2 is 4 now";
  EXPECT_THAT(keys(), SizeIs(3 + 1 + 1 + 1)) << "the chunks of each, and the pointer";
}

// As after a list that was cut in half, pushed with --allow-shrink, and refused by the loaders.
TEST_F(Rollback, PassesOverAGenerationThatLostManyKeysUnlessItIsNamed) {
  push_any(build_snapshot({.keys = 600}));
  push(build_snapshot({.keys = 1250}));
  const auto plan = plan_rollback(*store_, "tags");
  EXPECT_EQ(plan.target.generation, 3U);
  ASSERT_THAT(plan.passed_over, SizeIs(1));
  EXPECT_EQ(plan.passed_over[0].generation, 4U);
  EXPECT_DOUBLE_EQ(suspect_loss(pointer(), plan.passed_over[0]).value(), 0.52);
  EXPECT_EQ(suspect_loss(pointer(), current()), std::nullopt);
  EXPECT_EQ(plan_rollback(*store_, "tags", 4).target.generation, 4U);
  EXPECT_EQ(roll_back().key_count, 1200U);
  EXPECT_EQ(roll_back().key_count, 1250U) << "and there and back";
}

TEST_F(Rollback, PassesOverAGenerationThatLostManyKeysAlsoIfTheCurrentOneHasAsFew) {
  push_any(build_snapshot({.keys = 600}));
  push(build_snapshot({.keys = 600}));
  EXPECT_EQ(plan_rollback(*store_, "tags").target.generation, 3U);
}

TEST_F(Rollback, LeadsOutOfAGenerationThatLostManyKeysAndNotBackIntoIt) {
  push_any(build_snapshot({.keys = 600}));
  EXPECT_EQ(roll_back().restores, 3U);
  EXPECT_EQ(roll_back().restores, 2U);
}

TEST_F(Rollback, IsRefusedIfAllThatIsKeptHasFewKeysUnlessOneIsNamed) {
  for (int i = 0; i < 2; ++i) push_any(build_snapshot({.keys = 600}));
  push(build_snapshot({.keys = 1200}));
  EXPECT_EQ(failure_of([&] { plan_rollback(*store_, "tags"); }), ErrorKind::MissingInput);
  EXPECT_EQ(plan_rollback(*store_, "tags", 5).target.generation, 5U);
}

TEST_F(Rollback, BringsBackAnyKeptGenerationAndIsFollowedByOthersAndByAPush) {
  EXPECT_EQ(roll_back(1).restores, 1U);
  expect_current(snapshots_[0]);
  EXPECT_THAT(older_generations(), ElementsAre(3, 2));
  EXPECT_EQ(roll_back().restores, 3U);
  expect_current(snapshots_[2]);
  EXPECT_EQ(roll_back(2).generation, 6U);
  expect_current(snapshots_[1]);
  EXPECT_THAT(older_generations(), ElementsAre(5, 4));
  EXPECT_EQ(push(build_snapshot()).record.generation, 7U);
  EXPECT_EQ(current().restores, 0U);
  EXPECT_THAT(older_generations(), ElementsAre(6, 5));
  EXPECT_EQ(roll_back().restores, 6U);
  expect_current(snapshots_[1]);
}

TEST_F(Rollback, StaysARollbackWhenItsBuildIsPushedAgain) {
  roll_back(1);
  EXPECT_EQ(push(snapshots_[0]).record.generation, 4U);
  EXPECT_EQ(current().restores, 1U);
  expect_current(snapshots_[0]);
}

TEST_F(Rollback, IsRefusedToTheCurrentOrAnUnknownGeneration) {
  for (const std::uint64_t wrong : {0U, 3U, 4U})
    EXPECT_EQ(failure_of([&] { roll_back(wrong); }), ErrorKind::Usage) << wrong;
  EXPECT_EQ(current().generation, 3U);
}

TEST_F(Rollback, IsRefusedWhenNothingOlderIsKept) {
  push(build_snapshot({.set_name = "shop"}));
  for (const char* set_name : {"shop", "none"})
    EXPECT_EQ(failure_of([&] { plan_rollback(*store_, set_name); }), ErrorKind::MissingInput) << set_name;
}

TEST_F(Rollback, IsRefusedToADamagedGeneration) {
  const std::string key = chunk_key("keysieve", "tags", pointer().previous.at(1).push_id, 2);
  damage(key);
  EXPECT_EQ(failure_of([&] { roll_back(1); }), ErrorKind::Data);
  remove_record(*store_, key);
  EXPECT_EQ(failure_of([&] { roll_back(1); }), ErrorKind::Data);
  EXPECT_EQ(current().generation, 3U);
}

TEST_F(Rollback, IsRefusedWhenSomethingElseBecameCurrentSinceItWasPlanned) {
  const RollbackPlan plan = plan_rollback(*store_, "tags", 2);
  push(build_snapshot({.keys = 1300}));
  EXPECT_EQ(failure_of([&] { rollback(*store_, "tags", plan); }), ErrorKind::Locked);
  EXPECT_EQ(current().generation, 4U);
}

// Another process goes first, right before the pointer moves.
TEST_F(Rollback, ContinuesWhenTheSetIsOnlyBypassedMeanwhile) {
  hooked_.before_compare_and_set = once([this] { set_store_bypass(*store_, "tags", 0); });
  EXPECT_EQ(rollback(hooked_, "tags", plan_rollback(hooked_, "tags")).generation, 4U);
  EXPECT_EQ(pointer().bypass_until, 0);
}

TEST_F(Rollback, IsNotConfirmedIfTheStoreDoesNotSaySo) {
  hooked_.after_compare_and_set = lose_connection;
  EXPECT_EQ(failure_of([&] { rollback(hooked_, "tags", plan_rollback(hooked_, "tags")); }),
            ErrorKind::Unconfirmed);
  EXPECT_EQ(current().restores, 2U);
}

TEST_F(Rollback, AgreesWithARivalThatDoesTheSame) {
  hooked_.before_compare_and_set = once([this] { roll_back(2); });
  EXPECT_EQ(rollback(hooked_, "tags", plan_rollback(hooked_, "tags", 2)).generation, 4U);
  EXPECT_EQ(current().generation, 4U);
}

}  // namespace
}  // namespace keysieve::test
