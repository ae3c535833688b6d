#include <algorithm>

#include "core/builder/base/random.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/tools/transfer/transfer_fixture.hpp"

namespace keysieve::test {
namespace {

class InterruptedPush : public TransferTest {
 protected:
  static constexpr UnixSeconds kStart = 1'700'000'000;

  // The store takes that many records and then fails for good in the middle of a batch, as a network does.
  void interrupt_push(const SnapshotBytes& snapshot, UnixSeconds now, std::size_t records = 1) {
    HookedStore failing(*store_);
    const auto refuse_when_away = [&] {
      if (records == 0) lose_connection();
    };
    failing.before_get = refuse_when_away;
    failing.before_compare_and_set = refuse_when_away;
    failing.before_put = [&](std::span<const Record> batch) {
      if (batch.size() < records) {
        records -= batch.size();
      } else {
        store_->put_many(batch.first(std::exchange(records, 0)));
        lose_connection();
      }
    };
    EXPECT_THAT([&] { keysieve::push(failing, view_of(snapshot), {}, {}, now); },
                fails(ErrorKind::Unavailable));
  }
  PushResult push_at(const SnapshotBytes& snapshot, UnixSeconds now) {
    return keysieve::push(*store_, view_of(snapshot), {.max_shrink = std::nullopt}, {}, now);
  }
};

TEST_F(InterruptedPush, KeepsTheOldGeneration) {
  const auto old_snapshot = build_snapshot({.shard_count = kShardsOfSomeChunks});
  push(old_snapshot);
  const auto new_snapshot = build_snapshot({.shard_count = kShardsOfSomeChunks});
  const auto chunks = chunk_count_of(new_snapshot.get().size());
  ASSERT_EQ(chunks, 3U);
  for (std::size_t records = 1; records <= chunks; ++records) {
    interrupt_push(new_snapshot, unix_now(), records);
    EXPECT_EQ(pull().record.generation, 1U);
    expect_current(old_snapshot);
  }
  EXPECT_EQ(push(new_snapshot).record.generation, 2U);
  expect_current(new_snapshot);
}

TEST_F(InterruptedPush, RemovesItsChunksWhenTheStoreStillAnswers) {
  hooked_.before_put = [this](std::span<const Record> records) {
    store_->put_many(records.first(records.size() / 2));
    throw Error(ErrorKind::CannotCreate, "full");
  };
  EXPECT_THAT([&] { push_hooked(build_snapshot({.shard_count = kShardsOfSomeChunks})); },
              fails(ErrorKind::CannotCreate));
  EXPECT_THAT(keys(), ElementsAre(kPointerKey));
  EXPECT_EQ(pointer(), PointerRecord{});
}

TEST_F(InterruptedPush, OnlyWarnsWhenOldChunksCannotBeRemovedUntilTheNextPush) {
  const auto oldest = build_snapshot();
  push(oldest);
  for (int i = 0; i < 2; ++i) push(build_snapshot());
  hooked_.before_remove = lose_connection;
  const PushResult result = push_hooked(build_snapshot());
  EXPECT_EQ(result.record.generation, 4U);
  EXPECT_THAT(result.warnings, ElementsAre(AllOf(HasSubstr("set \"tags\": some obsolete records are left"),
                                                 HasSubstr("connection lost"))));
  EXPECT_EQ(current().generation, 4U);
  EXPECT_TRUE(has_chunks_of(oldest));
  EXPECT_THAT(push(build_snapshot()).warnings, IsEmpty());
  EXPECT_FALSE(has_chunks_of(oldest));
  EXPECT_THAT(keys(), SizeIs(3 + 1));
}

TEST_F(InterruptedPush, LeavesChunksThatAPushOfTheNextDayRemoves) {
  const auto interrupted = build_snapshot({.shard_count = kShardsOfSomeBatches});
  const auto other = build_snapshot();
  interrupt_push(interrupted, kStart);
  push_at(other, kStart + kDay - 1);
  EXPECT_TRUE(has_chunks_of(interrupted)) << "it may still be at work";
  push_at(build_snapshot(), kStart + kDay);
  EXPECT_FALSE(has_chunks_of(interrupted));
  EXPECT_TRUE(has_chunks_of(other));
  EXPECT_THAT(pointer().pending, IsEmpty());
  EXPECT_THAT(keys(), SizeIs(2 + 1)) << "two generations of one chunk, and the pointer";
}

TEST_F(InterruptedPush, IsNotMistakenForARivalThatStartedLater) {
  const auto interrupted = build_snapshot();
  const auto rival = build_snapshot();
  interrupt_push(interrupted, kStart);
  interrupt_push(rival, kStart + kDay - 1);
  push_at(build_snapshot(), kStart + kDay);
  EXPECT_FALSE(has_chunks_of(interrupted));
  EXPECT_TRUE(has_chunks_of(rival));
}

TEST_F(InterruptedPush, LeavesTheChunksOfAKeptGenerationOfTheSameBuild) {
  const auto snapshot = build_snapshot();
  interrupt_push(snapshot, kStart);
  push_at(snapshot, kStart + 1);
  push_at(build_snapshot(), kStart + kDay);
  EXPECT_TRUE(has_chunks_of(snapshot));
  EXPECT_THAT(keys(), SizeIs(2 + 1));
}

TEST_F(InterruptedPush, CanBeRepeatedTheNextDay) {
  const auto snapshot = build_snapshot();
  interrupt_push(snapshot, kStart);
  push_at(snapshot, kStart + kDay);
  EXPECT_EQ(pull().record.generation, 1U);
}

TEST_F(InterruptedPush, NeverFillsTheRecord) {
  const auto oldest = build_snapshot();
  interrupt_push(oldest, kStart);
  change_pointer([](PointerRecord& full) {
    while (full.pending.size() < kMaxPendingPushes)
      full.pending.push_back({.push_id = random_value<PushId>(), .chunk_count = 1, .started_at = kStart});
    while (full.garbage.size() < kMaxGarbage) full.garbage.push_back({random_value<PushId>(), 1});
  });
  hooked_.before_remove = lose_connection;
  keysieve::push(hooked_, view_of(build_snapshot()), {}, {}, kStart);
  EXPECT_LT(store_->get(kPointerKey).value().size(), kMaxValueBytes / 2);
  push_at(build_snapshot(), kStart);
  EXPECT_FALSE(has_chunks_of(oldest)) << "the oldest make room";
}

}  // namespace
}  // namespace keysieve::test
