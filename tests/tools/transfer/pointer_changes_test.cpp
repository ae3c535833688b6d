#include "tools/transfer/pointer_changes.hpp"

#include <gmock/gmock.h>
#include "tests/tools/transfer/push_ids.hpp"

namespace keysieve {
namespace {

using test::push_id;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr UnixSeconds kNow = 1'700'000'000;

// Build and push bear the same number, and their keys were read at that millisecond.
SnapshotRecord record_of(std::uint8_t number) {
  SnapshotRecord record;
  record.build_id = push_id(number);
  record.push_id = push_id(number);
  record.chunk_count = number;
  record.adds_from = log_position(number, 0);
  return record;
}

PendingPush pending_push(std::uint8_t number, UnixSeconds started_at = kNow) {
  return {push_id(number), number, started_at, log_position(number, 0)};
}

Garbage garbage(std::uint8_t number) {
  return {push_id(number), number};
}

PointerRecord pushed(std::initializer_list<std::uint8_t> numbers) {
  PointerRecord pointer;
  for (const std::uint8_t number : numbers) {
    announce(pointer, pending_push(number));
    make_current(pointer, record_of(number));
  }
  pointer.garbage.clear();
  return pointer;
}

std::vector<std::uint64_t> generations_in(const PointerRecord& pointer) {
  std::vector<std::uint64_t> generations;
  for (const SnapshotRecord& kept : kept_generations(pointer)) generations.push_back(kept.generation);
  return generations;
}

TEST(MakeCurrent, AllotsGenerationOneToTheFirst) {
  const PointerRecord pointer = pushed({1});
  EXPECT_EQ(pointer.current->generation, 1U);
  EXPECT_THAT(pointer.previous, IsEmpty());
  EXPECT_THAT(pointer.pending, IsEmpty());
}

TEST(MakeCurrent, TurnsWhatFallsOutOfTheLastThreeIntoGarbage) {
  PointerRecord pointer = pushed({1, 2, 3});
  EXPECT_THAT(generations_in(pointer), ElementsAre(3, 2, 1));
  make_current(pointer, record_of(4));
  EXPECT_THAT(generations_in(pointer), ElementsAre(4, 3, 2));
  EXPECT_THAT(pointer.garbage, ElementsAre(garbage(1)));
}

TEST(MakeCurrent, LeavesTheOtherPendingPushes) {
  PointerRecord pointer;
  announce(pointer, pending_push(1));
  announce(pointer, pending_push(2));
  make_current(pointer, record_of(1));
  EXPECT_THAT(pointer.pending, ElementsAre(pending_push(2)));
}

TEST(MakeCurrent, OfTheCurrentBuildKeepsItsGenerationAndWhatItRestores) {
  PointerRecord pointer = pushed({1, 2});
  pointer.current->restores = 1;
  SnapshotRecord again = record_of(2);
  again.push_id = push_id(9);
  make_current(pointer, again);
  EXPECT_THAT(generations_in(pointer), ElementsAre(2, 1));
  EXPECT_EQ(pointer.current->push_id, push_id(9));
  EXPECT_EQ(pointer.current->restores, 1U);
  EXPECT_THAT(pointer.garbage, ElementsAre(garbage(2)));
}

TEST(MakeCurrent, OfAKeptBuildMovesItToTheFront) {
  PointerRecord pointer = pushed({1, 2, 3});
  SnapshotRecord again = record_of(1);
  again.push_id = push_id(9);
  make_current(pointer, again);
  EXPECT_THAT(generations_in(pointer), ElementsAre(4, 3, 2));
  EXPECT_THAT(pointer.garbage, ElementsAre(garbage(1))) << "the chunks of the push before";
}

TEST(MakeCurrent, OfAKeptPushKeepsItsChunks) {
  PointerRecord pointer = pushed({1, 2, 3});
  make_current(pointer, record_of(1));
  EXPECT_THAT(generations_in(pointer), ElementsAre(4, 3, 2));
  EXPECT_THAT(pointer.garbage, IsEmpty());
}

TEST(MakeCurrent, KeepsTheChunksOfABuildThatIsKeptTwice) {
  PointerRecord pointer = pushed({2, 3});  // as the first record format allowed
  SnapshotRecord oldest = record_of(3);
  oldest.generation = 1;
  pointer.current->generation = 3;
  pointer.previous[0].generation = 2;
  pointer.previous.push_back(oldest);
  make_current(pointer, record_of(4));
  EXPECT_THAT(generations_in(pointer), ElementsAre(4, 3, 2));
  EXPECT_THAT(pointer.garbage, IsEmpty());
}

TEST(Discard, MovesAPendingPushToTheGarbageOnce) {
  PointerRecord pointer;
  announce(pointer, pending_push(1));
  discard(pointer, garbage(1));
  discard(pointer, garbage(1));
  EXPECT_THAT(pointer.pending, IsEmpty());
  EXPECT_THAT(pointer.garbage, ElementsAre(garbage(1)));
}

TEST(Discard, ForgetsTheOldestGarbageWhenTheListIsFull) {
  PointerRecord pointer;
  pointer.garbage.resize(kMaxGarbage, garbage(1));
  discard(pointer, garbage(2));
  EXPECT_THAT(pointer.garbage, SizeIs(kMaxGarbage));
  EXPECT_EQ(pointer.garbage.back(), garbage(2));
}

TEST(DiscardAbandoned, TakesThePushesOfThatAge) {
  PointerRecord pointer;
  announce(pointer, pending_push(1, kNow - 10));
  announce(pointer, pending_push(2, kNow - 9));
  EXPECT_TRUE(discard_abandoned(pointer, kNow, std::chrono::seconds{10}));
  EXPECT_THAT(pointer.pending, ElementsAre(pending_push(2, kNow - 9)));
  EXPECT_THAT(pointer.garbage, ElementsAre(garbage(1)));
  EXPECT_FALSE(discard_abandoned(pointer, kNow, std::chrono::seconds{10}));
}

TEST(DiscardAbandoned, TakesAClockThatIsAheadForNow) {
  PointerRecord pointer;
  announce(pointer, pending_push(1, kNow + 100));
  EXPECT_FALSE(discard_abandoned(pointer, kNow, std::chrono::seconds{1}));
  EXPECT_TRUE(discard_abandoned(pointer, kNow, std::chrono::seconds{0}));
}

TEST(Announce, DiscardsTheOldestWhenTheListIsFull) {
  PointerRecord pointer;
  for (std::uint8_t i = 0; i <= kMaxPendingPushes; ++i) announce(pointer, pending_push(i));
  EXPECT_THAT(pointer.pending, SizeIs(kMaxPendingPushes));
  EXPECT_EQ(pointer.pending.back(), pending_push(kMaxPendingPushes));
  EXPECT_THAT(pointer.garbage, ElementsAre(garbage(0)));
}

TEST(ReleaseAdds, GoesUpToTheOldestKeptGeneration) {
  PointerRecord pointer = pushed({1, 2, 3});
  EXPECT_TRUE(release_adds(pointer));
  EXPECT_EQ(pointer.adds_trimmed_to, log_position(1, 0));
  EXPECT_FALSE(release_adds(pointer));
  make_current(pointer, record_of(4));
  EXPECT_TRUE(release_adds(pointer));
  EXPECT_EQ(pointer.adds_trimmed_to, log_position(2, 0));
}

TEST(ReleaseAdds, LeavesWhatAPendingPushNeeds) {
  PointerRecord pointer = pushed({5, 6, 7});
  announce(pointer, pending_push(3));
  EXPECT_TRUE(release_adds(pointer));
  EXPECT_EQ(pointer.adds_trimmed_to, log_position(3, 0));
}

TEST(ReleaseAdds, LeavesAllWhenAGenerationWasBuiltWithoutALookAtTheLog) {
  PointerRecord pointer = pushed({5, 6, 7});
  pointer.previous[0].adds_from = {};
  EXPECT_FALSE(release_adds(pointer));
}

TEST(ReleaseAdds, NeverGoesBack) {
  PointerRecord pointer = pushed({5});
  pointer.adds_trimmed_to = log_position(9, 0);
  EXPECT_FALSE(release_adds(pointer));
  EXPECT_EQ(pointer.adds_trimmed_to, log_position(9, 0));
}

TEST(ReleaseAdds, LeavesAllBeforeTheFirstPush) {
  PointerRecord pointer;
  announce(pointer, pending_push(3));
  EXPECT_FALSE(release_adds(pointer));
}

}  // namespace
}  // namespace keysieve
