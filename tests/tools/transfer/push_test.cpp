#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <thread>

#include "core/base/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tests/tools/transfer/store_decorator.hpp"
#include "tools/transfer/chunk.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PushTest : public ::testing::Test {
 protected:
  PushResult push(const SnapshotBytes& snapshot, const Guards& guards = {}) {
    return keysieve::push(*store_, test::view_of(snapshot), guards);
  }

  [[nodiscard]] bool has_chunks_of(const SnapshotBytes& snapshot) const {
    const SnapshotView view = test::view_of(snapshot);
    return store_->get(chunk_key("keysieve", "tags", view.header().build_id, 0)).has_value();
  }

  [[nodiscard]] SnapshotRecord current() const { return read_pointer(*store_, "tags").value().current; }

  test::TemporaryDirectory directory_;
  std::string url_ = "dir:" + directory_ / "store";
  std::unique_ptr<Store> store_ = open_store(url_);
};

TEST_F(PushTest, DescribesTheSnapshotInThePointerRecord) {
  const auto snapshot = test::build_snapshot({.kind = "bloom", .keys = 8000, .seed = 99});
  const PushResult result = push(snapshot);
  const SnapshotRecord record = current();
  EXPECT_EQ(record, result.record);
  EXPECT_THAT(result.warnings, IsEmpty());
  const SnapshotHeader& header = test::view_of(snapshot).header();
  EXPECT_EQ(record.generation, 1U);
  EXPECT_EQ(record.build_id, header.build_id);
  EXPECT_EQ(record.bytes, snapshot.get().size());
  EXPECT_EQ(record.chunk_count, chunk_count_of(snapshot.get().size()));
  EXPECT_EQ(record.key_count, 8000U);
  EXPECT_EQ(record.as_of, 1'700'000'000);
  EXPECT_EQ(record.kind, "bloom");
  EXPECT_EQ(record.hash_count, header.hash_count);
  EXPECT_EQ(record.shard_bytes, header.shard_bytes);
  EXPECT_EQ(record.shard_count, header.shard_count);
  EXPECT_EQ(record.seed, 99U);
}

TEST_F(PushTest, AllotsRisingGenerations) {
  EXPECT_EQ(push(test::build_snapshot()).record.generation, 1U);
  EXPECT_EQ(push(test::build_snapshot()).record.generation, 2U);
  EXPECT_EQ(push(test::build_snapshot({.set_name = "shop"})).record.generation, 1U);
  EXPECT_EQ(push(test::build_snapshot()).record.generation, 3U);
}

TEST_F(PushTest, KeepsTheLastThreeGenerations) {
  std::vector<SnapshotBytes> snapshots;
  for (int i = 0; i < 5; ++i) {
    snapshots.push_back(test::build_snapshot());
    EXPECT_THAT(push(snapshots.back()).warnings, IsEmpty());
  }
  const PointerRecord pointer = read_pointer(*store_, "tags").value();
  EXPECT_EQ(pointer.current.generation, 5U);
  ASSERT_THAT(pointer.previous, SizeIs(2));
  EXPECT_EQ(pointer.previous[0].generation, 4U);
  EXPECT_EQ(pointer.previous[1].generation, 3U);
  std::vector<bool> kept;
  for (const auto& snapshot : snapshots) kept.push_back(has_chunks_of(snapshot));
  EXPECT_THAT(kept, ElementsAre(false, false, true, true, true));
}

TEST_F(PushTest, LeavesNothingOfAGenerationThatFallsOut) {
  push(test::build_snapshot({.shard_count = test::kShardsOfSomeChunks}));
  for (int i = 0; i < 3; ++i) push(test::build_snapshot(), {.max_shrink = std::nullopt});
  const auto files = std::distance(std::filesystem::directory_iterator(directory_ / "store"), {});
  EXPECT_EQ(files, 3 + 3)
      << "a chunk of each generation, the pointer, the empty list of pending pushes and the lock";
  EXPECT_EQ(store_->get("keysieve:tags:pending"), "[]");
}

TEST_F(PushTest, OfTheCurrentBuildChangesNothing) {
  const auto snapshot = test::build_snapshot();
  push(test::build_snapshot());
  const PushResult first = push(snapshot);
  const auto pointer_before = store_->get("keysieve:tags:current");
  const PushResult second = push(snapshot);
  EXPECT_EQ(second.record, first.record);
  EXPECT_THAT(second.warnings, IsEmpty());
  EXPECT_EQ(store_->get("keysieve:tags:current"), pointer_before);
}

TEST_F(PushTest, OfTheCurrentBuildMendsItsChunks) {
  const auto snapshot = test::build_snapshot();
  push(snapshot);
  store_->remove_many(std::vector{chunk_key("keysieve", "tags", current().build_id, 0)});
  EXPECT_THROW(pull(*store_, "tags"), DataError);
  push(snapshot);
  EXPECT_EQ(pull(*store_, "tags").record.generation, 1U);
}

TEST_F(PushTest, OfAnOlderBuildIsANewGenerationAndKeepsItsChunks) {
  const auto first = test::build_snapshot();
  push(first);
  for (int i = 0; i < 2; ++i) push(test::build_snapshot());
  EXPECT_EQ(push(first).record.generation, 4U);
  EXPECT_TRUE(has_chunks_of(first)) << "generation 1 fell out, but 4 has the same chunks";
  EXPECT_EQ(pull(*store_, "tags").record.generation, 4U);
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
  EXPECT_THAT(test::message_of<DataError>([&] { push(forged); }),
              HasSubstr("generation 1 has this build id"));
  EXPECT_EQ(pull(*store_, "tags").record.generation, 1U);
}

TEST_F(PushTest, RefusesASnapshotThatWasDamagedInMemory) {
  auto snapshot = test::build_snapshot();
  const SnapshotView view = test::view_of(snapshot);
  snapshot.get().back() ^= std::byte{1};
  EXPECT_THROW(keysieve::push(*store_, view, {}), DataError);
  EXPECT_EQ(read_pointer(*store_, "tags"), std::nullopt);
}

TEST_F(PushTest, ChecksTheGuardsAgainstTheGenerationBefore) {
  push(test::build_snapshot({.keys = 1000}));
  const auto smaller = test::build_snapshot({.keys = 700});
  EXPECT_THAT(test::message_of<DataError>([&] { push(smaller); }),
              HasSubstr("set \"tags\" shrank from 1,000 to 700"));
  EXPECT_EQ(current().generation, 1U);
  EXPECT_FALSE(has_chunks_of(smaller)) << "refused before anything was put";
  EXPECT_EQ(push(smaller, {.max_shrink = std::nullopt}).record.generation, 2U);
}

TEST_F(PushTest, ChecksTheOtherGuardsToo) {
  EXPECT_THROW(push(test::build_snapshot(), {.min_keys = 1001}), DataError);
  EXPECT_THROW(push(test::build_snapshot({.keys = 10'000}), {.max_fpr = 0.001}), DataError);
  EXPECT_THROW(push(test::build_snapshot(), {.canaries = {"key0", "absent1", "absent2", "absent3"}}),
               DataError);
  EXPECT_EQ(read_pointer(*store_, "tags"), std::nullopt);
}

TEST_F(PushTest, WarnsWhenTheGeometryChanges) {
  push(test::build_snapshot({.kind = "bloom", .keys = 10'000, .seed = 1}));
  const auto warnings =
      push(test::build_snapshot({.kind = "blocked_bloom", .keys = 20'000, .seed = 2})).warnings;
  EXPECT_THAT(warnings, ::testing::Contains(AllOf(HasSubstr("set \"tags\": kind changed"),
                                                  HasSubstr("from bloom to blocked_bloom"))));
  EXPECT_THAT(warnings, ::testing::Contains(HasSubstr("shard count changed")));
  EXPECT_THAT(warnings,
              ::testing::Contains(HasSubstr("seed changed from 0000000000000001 to 0000000000000002")));
}

TEST_F(PushTest, RefusesToReplaceADamagedPointerRecord) {
  store_->put_many(std::vector<Record>{{"keysieve:tags:current", "{"}});
  const auto snapshot = test::build_snapshot();
  EXPECT_EQ(test::message_of<DataError>([&] { push(snapshot); }),
            url_ + ": keysieve:tags:current: is not JSON");
  EXPECT_FALSE(has_chunks_of(snapshot));
}

TEST_F(PushTest, ReportsProgressUpToTheWhole) {
  const auto snapshot = test::build_snapshot({.shard_count = test::kShardsOfSomeBatches});
  std::vector<std::uint64_t> done;
  keysieve::push(*store_, test::view_of(snapshot), {}, [&](std::uint64_t bytes, std::uint64_t total) {
    EXPECT_EQ(total, snapshot.get().size());
    done.push_back(bytes);
  });
  EXPECT_GE(done.size(), 2U);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), snapshot.get().size());
}

// Fails after so many records, in the middle of a batch, as a network does.
class FailingPuts : public test::StoreDecorator {
 public:
  FailingPuts(Store& inner, std::size_t records) : StoreDecorator(inner), left_(records) {}

  void put_many(std::span<const Record> records) override {
    const std::size_t some = std::min(left_, records.size());
    inner_.put_many(records.first(some));
    left_ -= some;
    if (some < records.size()) throw UnavailableError(name() + ": connection lost");
  }

 private:
  std::size_t left_;
};

TEST_F(PushTest, LeavesTheOldGenerationWhenItIsInterrupted) {
  const auto old_snapshot = test::build_snapshot({.shard_count = test::kShardsOfSomeChunks});
  push(old_snapshot);
  const auto new_snapshot = test::build_snapshot({.shard_count = test::kShardsOfSomeChunks});
  const SnapshotView view = test::view_of(new_snapshot);
  const auto chunks = chunk_count_of(view.bytes().size());
  ASSERT_EQ(chunks, 3U);
  for (std::size_t records = 0; records < chunks; ++records) {
    FailingPuts failing(*store_, records);
    EXPECT_THROW(keysieve::push(failing, view, {}), UnavailableError);
    const Pulled pulled = pull(*store_, "tags");
    EXPECT_EQ(pulled.record.generation, 1U);
    EXPECT_TRUE(std::ranges::equal(pulled.snapshot.get(), old_snapshot.get()));
  }
  EXPECT_EQ(push(new_snapshot).record.generation, 2U);
  EXPECT_TRUE(std::ranges::equal(pull(*store_, "tags").snapshot.get(), new_snapshot.get()));
}

class FailingRemoval : public test::StoreDecorator {
 public:
  using StoreDecorator::StoreDecorator;
  void remove_many(std::span<const std::string>) override {
    throw UnavailableError(name() + ": connection lost");
  }
};

TEST_F(PushTest, OnlyWarnsWhenOldChunksCannotBeRemoved) {
  for (int i = 0; i < 3; ++i) push(test::build_snapshot());
  FailingRemoval failing(*store_);
  const auto snapshot = test::build_snapshot();
  const PushResult result = keysieve::push(failing, test::view_of(snapshot), {});
  EXPECT_EQ(result.record.generation, 4U);
  EXPECT_THAT(result.warnings, ElementsAre(AllOf(HasSubstr("generation 1 could not be removed"),
                                                 HasSubstr("connection lost"))));
  EXPECT_EQ(current().generation, 4U);
}

// Lets somebody else go first, right before the pointer moves.
class LosingRaces : public test::StoreDecorator {
 public:
  LosingRaces(Store& inner, int races, std::function<void()> rival)
      : StoreDecorator(inner), races_(races), rival_(std::move(rival)) {}

  bool compare_and_set(const Record& record, const std::optional<std::string>& expected) override {
    if (record.key.ends_with(":current") && races_-- > 0) rival_();
    return inner_.compare_and_set(record, expected);
  }

 private:
  int races_;
  std::function<void()> rival_;
};

TEST_F(PushTest, FollowsTheWinnerOfARace) {
  LosingRaces racing(*store_, 3, [this] { push(test::build_snapshot()); });
  const auto snapshot = test::build_snapshot();
  EXPECT_EQ(keysieve::push(racing, test::view_of(snapshot), {}).record.generation, 4U);
  EXPECT_TRUE(std::ranges::equal(pull(*store_, "tags").snapshot.get(), snapshot.get()));
}

TEST_F(PushTest, ChecksTheGuardsAgainstTheWinnerOfARace) {
  LosingRaces racing(*store_, 1, [this] { push(test::build_snapshot({.keys = 10'000})); });
  const auto snapshot = test::build_snapshot({.keys = 1000});
  EXPECT_THAT(test::message_of<DataError>([&] { keysieve::push(racing, test::view_of(snapshot), {}); }),
              HasSubstr("shrank from 10,000 to 1,000"));
  EXPECT_EQ(current().key_count, 10'000U);
  EXPECT_FALSE(has_chunks_of(snapshot)) << "it had put them before it lost";
  EXPECT_EQ(store_->get("keysieve:tags:pending"), "[]");
}

TEST_F(PushTest, AgreesWithARivalThatPushesTheSameBuild) {
  const auto snapshot = test::build_snapshot();
  LosingRaces racing(*store_, 1, [&] { push(snapshot); });
  EXPECT_EQ(keysieve::push(racing, test::view_of(snapshot), {}).record.generation, 1U);
}

TEST_F(PushTest, GivesUpWhenItLosesRaceAfterRace) {
  LosingRaces racing(*store_, 1'000'000, [this] { push(test::build_snapshot({.keys = 10})); });
  const auto snapshot = test::build_snapshot({.keys = 10});
  EXPECT_THROW(keysieve::push(racing, test::view_of(snapshot), {}), LockedError);
}

TEST_F(PushTest, KeepsTheChunksOfARefusedBuildThatARivalPublished) {
  const auto snapshot = test::build_snapshot({.keys = 1000});
  // The rival publishes the same build, then a larger one, against which this one shrank.
  LosingRaces racing(*store_, 1, [&] {
    push(snapshot);
    push(test::build_snapshot({.keys = 10'000}));
  });
  EXPECT_THROW(keysieve::push(racing, test::view_of(snapshot), {}), DataError);
  EXPECT_TRUE(has_chunks_of(snapshot)) << "generation 1, which is kept";
}

// Loses the connection when the pointer should move.
class LosingTheConnection : public test::StoreDecorator {
 public:
  using StoreDecorator::StoreDecorator;
  bool compare_and_set(const Record& record, const std::optional<std::string>& expected) override {
    if (record.key.ends_with(":current")) throw UnavailableError(name() + ": connection lost");
    return inner_.compare_and_set(record, expected);
  }
};

class InterruptedPush : public PushTest {
 protected:
  static constexpr UnixSeconds kStart = 1'700'000'000;
  static constexpr UnixSeconds kDay = std::chrono::seconds(kAbandonedAfter).count();

  void interrupt_push(const SnapshotBytes& snapshot, UnixSeconds now) {
    LosingTheConnection failing(*store_);
    EXPECT_THROW(keysieve::push(failing, test::view_of(snapshot), {}, {}, now), UnavailableError);
  }
  PushResult push_at(const SnapshotBytes& snapshot, UnixSeconds now) {
    return keysieve::push(*store_, test::view_of(snapshot), {.max_shrink = std::nullopt}, {}, now);
  }
};

TEST_F(InterruptedPush, LeavesChunksThatAPushOfTheNextDayRemoves) {
  const auto interrupted = test::build_snapshot({.shard_count = test::kShardsOfSomeBatches});
  const auto other = test::build_snapshot();
  interrupt_push(interrupted, kStart);
  push_at(other, kStart + kDay - 1);
  EXPECT_TRUE(has_chunks_of(interrupted)) << "it may still be at work";
  push_at(test::build_snapshot(), kStart + kDay);
  EXPECT_FALSE(has_chunks_of(interrupted));
  EXPECT_TRUE(has_chunks_of(other));
  EXPECT_EQ(store_->get("keysieve:tags:pending"), "[]");
  const auto files = std::distance(std::filesystem::directory_iterator(directory_ / "store"), {});
  EXPECT_EQ(files, 2 + 3) << "two generations of one chunk, pointer, pending and lock";
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

TEST_F(InterruptedPush, CostsAKeptGenerationNoChunks) {
  const auto snapshot = test::build_snapshot();
  interrupt_push(snapshot, kStart);
  push_at(snapshot, kStart + 1);
  push_at(test::build_snapshot(), kStart + kDay);
  EXPECT_TRUE(has_chunks_of(snapshot));
  EXPECT_EQ(store_->get("keysieve:tags:pending"), "[]");
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
  std::string list = store_->get("keysieve:tags:pending").value();
  list.pop_back();
  for (int i = 0; i < 500; ++i) {
    list += R"(,{"build_id":"09090909090909090909090909090909","chunk_count":1,"started_at":1700000000})";
  }
  store_->put_many(std::vector<Record>{{"keysieve:tags:pending", list + "]"}});
  push_at(test::build_snapshot(), kStart);
  EXPECT_FALSE(has_chunks_of(oldest)) << "the oldest make room";
  EXPECT_LT(store_->get("keysieve:tags:pending").value().size(), kMaxValueBytes / 2);
}

TEST_F(PushTest, PassesOverADamagedListOfPendingPushes) {
  for (const std::string text :
       {"", "{", "{}", "1", "[1]", R"([{"build_id":"x","chunk_count":1,"started_at":1}])",
        R"([{"build_id":"09090909090909090909090909090909","chunk_count":1,"started_at":-1}])"}) {
    store_->put_many(std::vector<Record>{{"keysieve:tags:pending", text}});
    push(test::build_snapshot());
    EXPECT_EQ(store_->get("keysieve:tags:pending"), "[]") << text;
  }
}

TEST_F(PushTest, OfRacingThreadsAllotsEachItsOwnGeneration) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kPushes = 5;
  std::vector<std::vector<SnapshotBytes>> snapshots(kThreads);
  for (auto& own : snapshots) {
    for (std::size_t i = 0; i < kPushes; ++i) own.push_back(test::build_snapshot());
  }
  std::vector<std::vector<std::uint64_t>> generations(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&own = generations[i], &mine = snapshots[i], this] {
      const auto store = open_store(url_);
      for (const SnapshotBytes& snapshot : mine) {
        own.push_back(keysieve::push(*store, test::view_of(snapshot), {}).record.generation);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::vector<std::uint64_t> all;
  for (const auto& own : generations) {
    EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
    all.insert(all.end(), own.begin(), own.end());
  }
  std::sort(all.begin(), all.end());
  ASSERT_THAT(all, SizeIs(kThreads * kPushes));
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], i + 1);
  EXPECT_EQ(pull(*store_, "tags").record.generation, kThreads * kPushes);
}

}  // namespace
}  // namespace keysieve
