#include <gmock/gmock.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/random.hpp"
#include "tests/support/message_of.hpp"
#include "tests/tools/transfer/push_fixture.hpp"
#include "tests/tools/transfer/store_decorator.hpp"

namespace keysieve {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Works for so many records, then is away for good, in the middle of a batch, as a network is.
class LosingTheConnection : public test::StoreDecorator {
 public:
  LosingTheConnection(Store& inner, std::size_t records) : StoreDecorator(inner), left_(records) {}

  std::optional<std::string> get(const std::string& key) override {
    refuse_when_away();
    return inner_.get(key);
  }
  void put_many(std::span<const Record> records) override {
    const std::size_t some = std::min(left_, records.size());
    inner_.put_many(records.first(some));
    left_ -= some;
    refuse_when_away();
  }
  bool compare_and_set(const Record& record, const std::optional<std::string>& expected) override {
    refuse_when_away();
    return inner_.compare_and_set(record, expected);
  }

 private:
  void refuse_when_away() const {
    if (left_ == 0) throw Error(ErrorKind::Unavailable, name() + ": connection lost");
  }

  std::size_t left_;
};

class InterruptedPush : public test::PushFixture {
 protected:
  static constexpr UnixSeconds kStart = 1'700'000'000;
  static constexpr UnixSeconds kDay = std::chrono::seconds(kAbandonedAfter).count();

  void interrupt_push(const SnapshotBytes& snapshot, UnixSeconds now, std::size_t records = 1) {
    LosingTheConnection failing(*store_, records);
    EXPECT_THAT([&] { keysieve::push(failing, test::view_of(snapshot), {}, {}, now); },
                test::fails(ErrorKind::Unavailable));
  }
  PushResult push_at(const SnapshotBytes& snapshot, UnixSeconds now) {
    return keysieve::push(*store_, test::view_of(snapshot), {.max_shrink = std::nullopt}, {}, now);
  }
};

TEST_F(InterruptedPush, LeavesTheOldGeneration) {
  const auto old_snapshot = test::build_snapshot({.shard_count = test::kShardsOfSomeChunks});
  push(old_snapshot);
  const auto new_snapshot = test::build_snapshot({.shard_count = test::kShardsOfSomeChunks});
  const auto chunks = chunk_count_of(new_snapshot.get().size());
  ASSERT_EQ(chunks, 3U);
  for (std::size_t records = 1; records <= chunks; ++records) {
    interrupt_push(new_snapshot, unix_now(), records);
    const Pulled pulled = pull(*store_, "tags");
    EXPECT_EQ(pulled.record.generation, 1U);
    EXPECT_TRUE(std::ranges::equal(pulled.snapshot.get(), old_snapshot.get()));
  }
  EXPECT_EQ(push(new_snapshot).record.generation, 2U);
  EXPECT_TRUE(std::ranges::equal(pull(*store_, "tags").snapshot.get(), new_snapshot.get()));
}

class FailingPuts : public test::StoreDecorator {
 public:
  using StoreDecorator::StoreDecorator;
  void put_many(std::span<const Record> records) override {
    inner_.put_many(records.first(records.size() / 2));
    throw Error(ErrorKind::CannotCreate, name() + ": full");
  }
};

TEST_F(InterruptedPush, TakesItsChunksAwayWhenTheStoreIsStillThere) {
  FailingPuts failing(*store_);
  const auto snapshot = test::build_snapshot({.shard_count = test::kShardsOfSomeChunks});
  EXPECT_THAT([&] { keysieve::push(failing, test::view_of(snapshot), {}); },
              test::fails(ErrorKind::CannotCreate));
  EXPECT_THAT(keys(), ElementsAre("keysieve:tags:current"));
  EXPECT_EQ(pointer(), PointerRecord{});
}

class FailingRemoval : public test::StoreDecorator {
 public:
  using StoreDecorator::StoreDecorator;
  void remove_many(std::span<const std::string>) override {
    throw Error(ErrorKind::Unavailable, name() + ": connection lost");
  }
};

TEST_F(InterruptedPush, OnlyWarnsWhenOldChunksCannotBeRemovedAndTheNextOneDoes) {
  const auto oldest = test::build_snapshot();
  push(oldest);
  for (int i = 0; i < 2; ++i) push(test::build_snapshot());
  FailingRemoval failing(*store_);
  const auto snapshot = test::build_snapshot();
  const PushResult result = keysieve::push(failing, test::view_of(snapshot), {});
  EXPECT_EQ(result.record.generation, 4U);
  EXPECT_THAT(result.warnings,
              ElementsAre(AllOf(HasSubstr("set \"tags\": what nobody needs any more is not all removed"),
                                HasSubstr("connection lost"))));
  EXPECT_EQ(current().generation, 4U);
  EXPECT_TRUE(has_chunks_of(oldest));
  EXPECT_THAT(push(test::build_snapshot()).warnings, IsEmpty());
  EXPECT_FALSE(has_chunks_of(oldest));
  EXPECT_THAT(keys(), SizeIs(3 + 1));
}

TEST_F(InterruptedPush, LeavesChunksThatAPushOfTheNextDayRemoves) {
  const auto interrupted = test::build_snapshot({.shard_count = test::kShardsOfSomeBatches});
  const auto other = test::build_snapshot();
  interrupt_push(interrupted, kStart);
  push_at(other, kStart + kDay - 1);
  EXPECT_TRUE(has_chunks_of(interrupted)) << "it may still be at work";
  push_at(test::build_snapshot(), kStart + kDay);
  EXPECT_FALSE(has_chunks_of(interrupted));
  EXPECT_TRUE(has_chunks_of(other));
  EXPECT_THAT(pointer().pending, IsEmpty());
  EXPECT_THAT(keys(), SizeIs(2 + 1)) << "two generations of one chunk, and the pointer";
}

TEST_F(InterruptedPush, IsToldFromARivalThatStartedLater) {
  const auto interrupted = test::build_snapshot();
  const auto rival = test::build_snapshot();
  interrupt_push(interrupted, kStart);
  interrupt_push(rival, kStart + kDay - 1);
  push_at(test::build_snapshot(), kStart + kDay);
  EXPECT_FALSE(has_chunks_of(interrupted));
  EXPECT_TRUE(has_chunks_of(rival));
}

TEST_F(InterruptedPush, CostsAKeptGenerationOfTheSameBuildNoChunks) {
  const auto snapshot = test::build_snapshot();
  interrupt_push(snapshot, kStart);
  push_at(snapshot, kStart + 1);
  push_at(test::build_snapshot(), kStart + kDay);
  EXPECT_TRUE(has_chunks_of(snapshot));
  EXPECT_THAT(keys(), SizeIs(2 + 1));
}

TEST_F(InterruptedPush, CanBeDoneAgainTheNextDay) {
  const auto snapshot = test::build_snapshot();
  interrupt_push(snapshot, kStart);
  push_at(snapshot, kStart + kDay);
  EXPECT_EQ(pull(*store_, "tags").record.generation, 1U);
}

TEST_F(InterruptedPush, NeverFillsTheRecord) {
  const auto oldest = test::build_snapshot();
  interrupt_push(oldest, kStart);
  PointerRecord full = pointer();
  while (full.pending.size() < kMaxPendingPushes)
    full.pending.push_back({.push_id = random_value<PushId>(), .chunk_count = 1, .started_at = kStart});
  while (full.garbage.size() < kMaxGarbage) full.garbage.push_back({random_value<PushId>(), 1});
  store_->put_many(std::vector<Record>{{"keysieve:tags:current", encode(full)}});
  FailingRemoval failing(*store_);
  keysieve::push(failing, test::view_of(test::build_snapshot()), {}, {}, kStart);
  EXPECT_LT(store_->get("keysieve:tags:current").value().size(), kMaxValueBytes / 2);
  push_at(test::build_snapshot(), kStart);
  EXPECT_FALSE(has_chunks_of(oldest)) << "the oldest make room";
}

}  // namespace
}  // namespace keysieve
