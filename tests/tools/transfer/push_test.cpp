#include "core/builder/base/log_positions.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/support/matchers.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tests/tools/transfer/transfer_fixture.hpp"
#include "tools/records/pointer_record.hpp"

namespace keysieve::test {
namespace {

class PushTest : public TransferTest {
 protected:
  static constexpr UnixSeconds kStart = 1'700'000'000;

  // The connection is lost for good after the first chunk.
  void interrupt_push(const SnapshotBytes& snapshot, UnixSeconds now) {
    HookedStore failing(*store_);
    failing.after_put = [&] {
      failing.before_get = lose_connection;
      lose_connection();
    };
    EXPECT_EQ(failure_of([&] { keysieve::push(failing, view_of(snapshot), {}, {}, now); }),
              ErrorKind::Unavailable);
  }
  // Another process goes first, right before the pointer moves.
  void lose_races(int races) {
    hooked_.after_put = [this, races] {
      hooked_.before_compare_and_set = [this, left = races]() mutable {
        if (left-- > 0) push(build_snapshot());
      };
    };
  }
};

TEST_F(PushTest, DescribesTheSnapshotInThePointerRecord) {
  const auto snapshot = build_snapshot({.kind = "bloom", .keys = 8000, .seed = {99}});
  const PushResult result = push(snapshot);
  const SnapshotRecord record = current();
  EXPECT_EQ(record, result.record);
  EXPECT_THAT(result.warnings, IsEmpty());
  const SnapshotHeader& header = view_of(snapshot).header();
  EXPECT_EQ(record.generation, 1U);
  EXPECT_EQ(record.build_id, header.build_id);
  EXPECT_EQ(record.bytes, snapshot.get().size());
  EXPECT_EQ(record.chunk_count(), chunk_count_of(snapshot.get().size()));
  EXPECT_EQ(record.key_count, 8000U);
  EXPECT_EQ(record.as_of, 1'700'000'000);
  EXPECT_EQ(record.kind, "bloom");
}

TEST_F(PushTest, RefusesKeysThatAreOlderThanTheCurrentOnes) {
  push(build_snapshot({.as_of = 1'700'000'000}));
  const auto older = build_snapshot({.as_of = 1'700'000'000 - 1});
  EXPECT_EQ(failure_of([&] { push(older); }), ErrorKind::Older);
  EXPECT_EQ(current().generation, 1U);
  EXPECT_EQ(push(build_snapshot({.as_of = 1'700'000'000})).record.generation, 2U) << "as old is not older";
  EXPECT_EQ(push(older, {.allow_any_as_of = true}).record.generation, 3U);
}

TEST_F(PushTest, RefusesKeysOfTheFuture) {
  const UnixSeconds now = unix_now();
  EXPECT_EQ(failure_of([&] { push(build_snapshot({.as_of = now + 432'000})); }), ErrorKind::Data);
  EXPECT_EQ(push(build_snapshot({.as_of = now + 60})).record.generation, 1U)
      << "the clocks of two hosts may differ by minutes";
  EXPECT_EQ(push(build_snapshot({.as_of = now + 432'000}), {.allow_any_as_of = true}).record.generation, 2U);
  EXPECT_EQ(failure_of([&] { push(build_snapshot({.as_of = now - 1})); }), ErrorKind::Older)
      << "than what was current before";
  EXPECT_EQ(push(build_snapshot({.as_of = now + 61})).record.generation, 3U)
      << "the builder's clock is right again";
}

TEST_F(PushTest, KeepsTheLastThreeGenerations) {
  std::vector<SnapshotBytes> snapshots;
  for (int i = 0; i < 5; ++i) {
    snapshots.push_back(build_snapshot());
    EXPECT_THAT(push(snapshots.back()).warnings, IsEmpty());
  }
  EXPECT_EQ(current().generation, 5U);
  EXPECT_THAT(older_generations(), ElementsAre(4, 3));
  std::vector<bool> kept;
  for (const auto& snapshot : snapshots) kept.push_back(has_chunks_of(snapshot));
  EXPECT_THAT(kept, ElementsAre(false, false, true, true, true));
}

TEST_F(PushTest, OfTheCurrentBuildKeepsItsGeneration) {
  const auto snapshot = build_snapshot();
  push(build_snapshot());
  const PushResult first = push(snapshot);
  const PushResult second = push(snapshot);
  EXPECT_EQ(second.record.generation, first.record.generation);
  EXPECT_THAT(second.warnings, IsEmpty());
  EXPECT_THAT(pointer().previous, SizeIs(1));
  EXPECT_THAT(keys(), SizeIs(2 + 1)) << "one chunk of each generation, and the pointer";
}

TEST_F(PushTest, OfAnOlderBuildMakesANewGeneration) {
  const auto first = build_snapshot();
  push(first);
  for (int i = 0; i < 2; ++i) push(build_snapshot());
  EXPECT_EQ(push(first).record.generation, 4U);
  expect_current(first);
  EXPECT_EQ(current().restores, 0U) << "it is no rollback";
  EXPECT_THAT(older_generations(), ElementsAre(3, 2)) << "generation 1 is 4 now";
  EXPECT_THAT(keys(), SizeIs(3 + 1));
}

TEST_F(PushTest, RefusesOtherBytesUnderTheSameBuildId) {
  BuildSettings settings;
  settings.set_name = "tags";
  settings.build_id.fill(7);
  SnapshotBuilder one(settings);
  one.add("one");
  push(one.finish());
  SnapshotBuilder other(settings);
  other.add("other");
  const auto forged = other.finish();
  EXPECT_EQ(failure_of([&] { push(forged); }), ErrorKind::Data);
  EXPECT_EQ(pull().record.generation, 1U);
}

TEST_F(PushTest, RefusesASnapshotThatWasDamagedInMemory) {
  auto snapshot = build_snapshot();
  const SnapshotView view = view_of(snapshot);
  snapshot.get().back() ^= std::byte{1};
  EXPECT_EQ(failure_of([&] { keysieve::push(*store_, view, {}); }), ErrorKind::Data);
  EXPECT_EQ(read_pointer(*store_, "tags"), std::nullopt);
}

TEST_F(PushTest, ComparesTheKeysAloneWithAGenerationWhoseHeaderIsGoneAndWarns) {
  push(build_snapshot({.kind = "bloom"}));
  remove_record(*store_, key_of_chunk(0));
  EXPECT_EQ(failure_of([&] { push(build_snapshot({.keys = 700})); }), ErrorKind::MaxShrink);
  EXPECT_THAT(push(build_snapshot()).warnings, ElementsAre(HasSubstr("only its number of keys")));
}

TEST_F(PushTest, WarnsWhenTheGeometryChanges) {
  push(build_snapshot({.kind = "bloom", .keys = 10'000, .seed = {1}}));
  const auto warnings = push(build_snapshot({.kind = "blocked_bloom", .keys = 20'000, .seed = {2}})).warnings;
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("kind"), HasSubstr("hash count"), HasSubstr("shard count"),
                                    HasSubstr("seed")));
}

TEST_F(PushTest, RefusesToReplaceADamagedPointerRecord) {
  replace(kPointerKey, "{");
  const auto snapshot = build_snapshot();
  EXPECT_EQ(failure_of([&] { push(snapshot); }), ErrorKind::Data);
  EXPECT_FALSE(has_chunks_of(snapshot));
}

TEST_F(PushTest, RemovesItsChunksWhenAPutFails) {
  hooked_.before_put = [this](std::span<const Record> records) {
    store_->put_many(records.first(records.size() / 2));
    throw Error(ErrorKind::CannotCreate, "full");
  };
  EXPECT_EQ(failure_of([&] { push_hooked(build_snapshot({.shard_count = kShardsOfSomeChunks})); }),
            ErrorKind::CannotCreate);
  EXPECT_THAT(keys(), IsEmpty());
}

// Its compare-and-set may arrive late, when its chunks are gone.
TEST_F(PushTest, ThatIsTakenBackLeavesNoTextThatALateCompareAndSetExpects) {
  push(build_snapshot());
  std::optional<std::string> expected;
  hooked_.before_compare_and_set = once([&] {
    expected = store_->get(kPointerKey);
    for (const std::string& key : keys()) {
      if (key != kPointerKey && key != key_of_chunk(0)) remove_record(*store_, key);
    }
    hooked_.before_put = [](std::span<const Record>) { throw Error(ErrorKind::CannotCreate, "full"); };
    lose_connection();
  });
  EXPECT_EQ(failure_of([&] { push_hooked(build_snapshot()); }), ErrorKind::CannotCreate);
  EXPECT_EQ(pointer(), decode_pointer_record(*expected, "before"));
  EXPECT_FALSE(store_->compare_and_set({kPointerKey, "late"}, expected));
}

TEST_F(PushTest, OnlyWarnsWhenOldChunksCannotBeRemovedUntilTheNextPush) {
  const auto oldest = build_snapshot();
  push(oldest);
  for (int i = 0; i < 2; ++i) push(build_snapshot());
  hooked_.before_remove = lose_connection;
  const PushResult result = push_hooked(build_snapshot());
  EXPECT_EQ(result.record.generation, 4U);
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("some obsolete records are left")));
  EXPECT_EQ(current().generation, 4U);
  EXPECT_TRUE(has_chunks_of(oldest));
  EXPECT_THAT(push(build_snapshot()).warnings, IsEmpty());
  EXPECT_FALSE(has_chunks_of(oldest));
  EXPECT_THAT(keys(), SizeIs(3 + 1));
}

// That push may only be stopped, and find all its chunks before they are removed. So it is made obsolete
// first.
TEST_F(PushTest, RemovesTheChunksOfAPushThatWasInterruptedADayBefore) {
  const auto interrupted = build_snapshot();
  const auto at_work = build_snapshot();
  interrupt_push(interrupted, kStart);
  interrupt_push(at_work, kStart + 1);
  int removals = 0;
  hooked_.before_remove = [&] {
    ++removals;
    EXPECT_TRUE(has_chunks_of(interrupted));
    EXPECT_TRUE(is_obsolete(pointer(), first_push_id(kStart)));
    EXPECT_FALSE(is_obsolete(pointer(), first_push_id(kStart + 1)));
  };
  keysieve::push(hooked_, view_of(build_snapshot()), {}, {}, kStart + kDay + 1);
  EXPECT_EQ(removals, 1);
  EXPECT_FALSE(has_chunks_of(interrupted));
  EXPECT_TRUE(has_chunks_of(at_work)) << "it may still be at work";
}

TEST_F(PushTest, BeginsAgainWhenAnotherTreatsItAsAbandoned) {
  hooked_.after_put =
      once([this] { keysieve::push(*store_, view_of(build_snapshot()), {}, {}, unix_now() + kDay + 60); });
  EXPECT_EQ(push_hooked(build_snapshot()).record.generation, 2U);
  pull();
  EXPECT_THAT(keys(), SizeIs(2 + 1));
}

TEST_F(PushTest, BeginsAgainWhenTheStoreHasLostAChunk) {
  const auto snapshot = build_snapshot({.shard_count = kShardsOfSomeChunks});
  hooked_.after_put = once([this] { remove_record(*store_, keys().front()); });
  EXPECT_EQ(push_hooked(snapshot).record.generation, 1U);
  expect_current(snapshot);
  EXPECT_THAT(keys(), SizeIs(3 + 1));
}

TEST_F(PushTest, BeginsAgainWhenTheStoreHasForgottenAll) {
  hooked_.after_put = once([this] { store_->remove_many(keys()); });
  EXPECT_EQ(push_hooked(build_snapshot()).record.generation, 1U);
  const auto snapshot = build_snapshot();
  hooked_.before_compare_and_set = once([this] { store_->remove_many(keys()); });  // all was read back
  EXPECT_EQ(push_hooked(snapshot).record.generation, 1U);
  expect_current(snapshot);
}

TEST_F(PushTest, GivesUpWhenTheStoreForgetsAChunkEachTime) {
  const auto first = build_snapshot({.shard_count = kShardsOfSomeChunks});
  push(first);
  hooked_.before_get_many = [this](std::span<const std::string> read) {
    if (read.size() > 1) remove_record(*store_, read[1]);
  };
  EXPECT_EQ(failure_of([&] { push_hooked(build_snapshot({.shard_count = kShardsOfSomeChunks})); }),
            ErrorKind::CannotCreate);
  expect_current(first);
}

TEST_F(PushTest, OfTheCurrentBuildPutsBackAChunkThatTheStoreHasForgotten) {
  const auto snapshot = build_snapshot({.shard_count = kShardsOfSomeChunks});
  push(snapshot);
  remove_record(*store_, key_of_chunk(2));
  EXPECT_EQ(push(snapshot).record.generation, 1U);
  expect_current(snapshot);
}

TEST_F(PushTest, FollowsTheWinnersOfSomeRacesAndGivesUpAfterMany) {
  lose_races(3);
  EXPECT_EQ(push_hooked(build_snapshot()).record.generation, 4U);
  EXPECT_EQ(current().generation, 4U);
  lose_races(1'000'000);
  EXPECT_EQ(failure_of([&] { push_hooked(build_snapshot()); }), ErrorKind::Locked);
}

TEST_F(PushTest, FindsOutThatOnlyTheAnswerWasLost) {
  hooked_.after_put = [this] { hooked_.after_compare_and_set = once(lose_connection); };
  EXPECT_EQ(push_hooked(build_snapshot()).record.generation, 1U);
  EXPECT_THAT(pointer().previous, IsEmpty());
  EXPECT_THAT(keys(), SizeIs(1 + 1)) << "its chunk once, and the pointer";
}

// As while a required replica hangs: the store has the record, and never says so.
TEST_F(PushTest, IsNotConfirmedUntilTheBuildIsPushedAgain) {
  const auto snapshot = build_snapshot();
  hooked_.after_put = [this] { hooked_.after_compare_and_set = lose_connection; };
  EXPECT_EQ(failure_of([&] { push_hooked(snapshot); }), ErrorKind::Unconfirmed);
  EXPECT_EQ(current().generation, 1U);
  int swaps = 0;
  hooked_.after_put = [] {};
  hooked_.after_compare_and_set = [&swaps] { ++swaps; };
  const PushResult again = push_hooked(snapshot);
  EXPECT_EQ(again.record.generation, 1U);
  EXPECT_THAT(again.warnings, IsEmpty());
  EXPECT_GT(swaps, 0) << "which the replica confirms";
}

// Tests the changes of a pointer record that pushes, rollbacks and collections do not reach in their own
// tests.

// Build id and push id have the same number, and the keys were read at that millisecond.
SnapshotRecord record_of(std::uint8_t number) {
  SnapshotRecord record;
  record.build_id = push_id(number);
  record.push_id = push_id(number);
  record.adds_from = log_position(number, 0);
  return record;
}

TEST(MakeCurrent, MakesPushesObsoleteThatAreNoLongerKept) {
  PointerRecord pointer;
  for (const std::uint8_t number : std::array<std::uint8_t, 3>{2, 3, 4})
    make_current(pointer, record_of(number));
  EXPECT_EQ(pointer.chunks_removed_to, PushId{});
  make_current(pointer, record_of(5));
  EXPECT_EQ(pointer.chunks_removed_to, push_id(2));
  EXPECT_TRUE(is_obsolete(pointer, push_id(1))) << "older, and not kept";
  EXPECT_FALSE(is_obsolete(pointer, push_id(3))) << "kept";
  SnapshotRecord repaired = record_of(5);
  repaired.push_id = push_id(6);
  make_current(pointer, repaired);
  EXPECT_TRUE(is_obsolete(pointer, push_id(5)));
  EXPECT_FALSE(is_obsolete(pointer, push_id(4))) << "kept, though older than what is obsolete";
  EXPECT_EQ(newest_push(pointer), push_id(6));
}

TEST(ReleaseAdds, NeverGoesBack) {
  PointerRecord pointer;
  EXPECT_FALSE(release_adds(pointer)) << "before the first push";
  make_current(pointer, record_of(5));
  pointer.adds_trimmed_to = log_position(9, 0);
  EXPECT_FALSE(release_adds(pointer));
  EXPECT_EQ(pointer.adds_trimmed_to, log_position(9, 0));
}

}  // namespace
}  // namespace keysieve::test
