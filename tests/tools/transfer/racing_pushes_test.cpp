#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "core/base/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/tools/transfer/push_fixture.hpp"
#include "tests/tools/transfer/store_decorator.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using RacingPushes = test::PushFixture;

// Lets somebody else go first, right before the pointer moves.
class LosingRaces : public test::StoreDecorator {
 public:
  LosingRaces(Store& inner, int races, std::function<void()> rival)
      : StoreDecorator(inner), races_(races), rival_(std::move(rival)) {}

  void put_many(std::span<const Record> records) override {
    inner_.put_many(records);
    has_put_ = true;
  }
  bool compare_and_set(const Record& record, const std::optional<std::string>& expected) override {
    if (has_put_ && races_-- > 0) rival_();
    return inner_.compare_and_set(record, expected);
  }

 private:
  bool has_put_ = false;
  int races_;
  std::function<void()> rival_;
};

TEST_F(RacingPushes, FollowsTheWinnerOfARace) {
  LosingRaces racing(*store_, 3, [this] { push(test::build_snapshot()); });
  const auto snapshot = test::build_snapshot();
  EXPECT_EQ(keysieve::push(racing, test::view_of(snapshot), {}).record.generation, 4U);
  EXPECT_TRUE(std::ranges::equal(pull(*store_, "tags").snapshot.get(), snapshot.get()));
}

TEST_F(RacingPushes, ChecksTheGuardsAgainstTheWinnerOfARace) {
  LosingRaces racing(*store_, 1, [this] { push(test::build_snapshot({.keys = 10'000})); });
  const auto snapshot = test::build_snapshot({.keys = 1000});
  EXPECT_THAT(
      test::message_of<ErrorKind::MaxShrink>([&] { keysieve::push(racing, test::view_of(snapshot), {}); }),
      HasSubstr("shrank from 10,000 to 1,000"));
  EXPECT_EQ(current().key_count, 10'000U);
  EXPECT_FALSE(has_chunks_of(snapshot)) << "it had put them before it lost";
  EXPECT_THAT(pointer().pending, IsEmpty());
  EXPECT_THAT(pointer().garbage, IsEmpty());
}

TEST_F(RacingPushes, AgreesWithARivalThatPushesTheSameBuild) {
  const auto snapshot = test::build_snapshot();
  LosingRaces racing(*store_, 1, [&] { push(snapshot); });
  EXPECT_EQ(keysieve::push(racing, test::view_of(snapshot), {}).record.generation, 1U);
  EXPECT_TRUE(std::ranges::equal(pull(*store_, "tags").snapshot.get(), snapshot.get()));
  EXPECT_THAT(keys(), SizeIs(1 + 1)) << "its chunk once, and the pointer";
}

TEST_F(RacingPushes, GivesUpWhenItLosesRaceAfterRace) {
  LosingRaces racing(*store_, 1'000'000, [this] { push(test::build_snapshot({.keys = 10})); });
  const auto snapshot = test::build_snapshot({.keys = 10});
  EXPECT_THAT([&] { keysieve::push(racing, test::view_of(snapshot), {}); }, test::fails(ErrorKind::Locked));
}

TEST_F(RacingPushes, KeepsTheChunksOfARefusedBuildThatARivalPublished) {
  const auto snapshot = test::build_snapshot({.keys = 1000});
  // The rival publishes the same build, then a larger one, against which this one shrank.
  LosingRaces racing(*store_, 1, [&] {
    push(snapshot);
    push(test::build_snapshot({.keys = 10'000}));
  });
  EXPECT_THAT([&] { keysieve::push(racing, test::view_of(snapshot), {}); },
              test::fails(ErrorKind::MaxShrink));
  EXPECT_TRUE(has_chunks_of(snapshot)) << "generation 1, which is kept";
  EXPECT_THAT(keys(), SizeIs(2 + 1)) << "a chunk of each generation, and the pointer";
}

// Moves the pointer, but the answers are lost, or replicas do not confirm.
class LosingAnswers : public test::StoreDecorator {
 public:
  LosingAnswers(Store& inner, int answers) : StoreDecorator(inner), answers_(answers) {}

  void put_many(std::span<const Record> records) override {
    inner_.put_many(records);
    has_put_ = true;
  }
  bool compare_and_set(const Record& record, const std::optional<std::string>& expected) override {
    const bool is_set = inner_.compare_and_set(record, expected);
    if (has_put_ && answers_-- > 0) throw Error(ErrorKind::Unavailable, name() + ": connection lost");
    return is_set;
  }

 private:
  bool has_put_ = false;
  int answers_;
};

TEST_F(RacingPushes, FindOutThatOnlyTheAnswerWasLost) {
  LosingAnswers losing(*store_, 1);
  const auto snapshot = test::build_snapshot();
  EXPECT_EQ(keysieve::push(losing, test::view_of(snapshot), {}).record.generation, 1U);
  EXPECT_THAT(pointer().previous, IsEmpty());
  EXPECT_THAT(keys(), SizeIs(1 + 1)) << "its chunk once, and the pointer";
}

TEST_F(RacingPushes, ClaimNoSuccessThatTheStoreDoesNotConfirm) {
  LosingAnswers losing(*store_, 1'000'000);
  const auto snapshot = test::build_snapshot();
  EXPECT_THAT([&] { keysieve::push(losing, test::view_of(snapshot), {}); },
              test::fails(ErrorKind::Unconfirmed));
  EXPECT_EQ(current().generation, 1U) << "it has moved all the same";
  EXPECT_TRUE(std::ranges::equal(pull(*store_, "tags").snapshot.get(), snapshot.get()));
  EXPECT_EQ(push(snapshot).record.generation, 1U);
}

TEST_F(RacingPushes, AllotEachItsOwnGeneration) {
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
