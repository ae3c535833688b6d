// Tests the changes of a pointer record that pushes, rollbacks and collections do not reach in their own
// tests.
#include "tools/transfer/pointer_changes.hpp"
#include "core/builder/base/log_positions.hpp"

#include "tests/support/matchers.hpp"
#include "tests/tools/transfer/snapshots.hpp"

namespace keysieve::test {
namespace {

constexpr UnixSeconds kNow = 1'700'000'000;

// Build id and push id have the same number, and the keys were read at that millisecond.
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
  const Garbage garbage{push_id(1), 1};
  PointerRecord pointer;
  announce(pointer, pending_push(1));
  for (int times = 0; times < 2; ++times) discard(pointer, garbage);
  EXPECT_THAT(pointer.pending, IsEmpty());
  EXPECT_THAT(pointer.garbage, ElementsAre(garbage));
}

TEST(DiscardAbandoned, TreatsAClockThatIsAheadAsNow) {
  PointerRecord pointer;
  announce(pointer, pending_push(1, kNow + 100));
  discard_abandoned(pointer, kNow);
  EXPECT_THAT(pointer.pending, SizeIs(1));
  discard_abandoned(pointer, kNow + 100 + std::chrono::seconds(kAbandonedAfter).count());
  EXPECT_THAT(pointer.pending, IsEmpty());
}

TEST(Announce, DiscardsTheOldestWhenTheListIsFull) {
  PointerRecord pointer;
  for (std::uint8_t i = 0; i <= kMaxPendingPushes; ++i) announce(pointer, pending_push(i));
  EXPECT_THAT(pointer.pending, SizeIs(kMaxPendingPushes));
  EXPECT_EQ(pointer.pending.back(), pending_push(kMaxPendingPushes));
  EXPECT_THAT(pointer.garbage, ElementsAre(Garbage{push_id(0), 0}));
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
}  // namespace keysieve::test
