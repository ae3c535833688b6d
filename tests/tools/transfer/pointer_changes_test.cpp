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

TEST(ReleaseAdds, NeverGoesBack) {
  PointerRecord pointer;
  make_current(pointer, record_of(5));
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
