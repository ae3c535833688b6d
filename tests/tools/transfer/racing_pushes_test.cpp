#include <algorithm>
#include <numeric>
#include <thread>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/tools/transfer/transfer_fixture.hpp"

namespace keysieve::test {
namespace {

class RacingPushes : public TransferTest {
 protected:
  // Another process goes first, right before the pointer moves.
  void lose_races(int races, const std::function<void()>& rival) {
    hooked_.before_compare_and_set = [this, rival, left = races]() mutable {
      if (has_put_ && left-- > 0) rival();
    };
  }
  // The pointer moves, but the answer is lost or replicas do not confirm.
  void lose_answers(int answers) {
    hooked_.after_compare_and_set = [this, left = answers]() mutable {
      if (has_put_ && left-- > 0) lose_connection();
    };
  }

 private:
  void SetUp() override {
    hooked_.after_put = [this] { has_put_ = true; };
  }

  bool has_put_ = false;
};

TEST_F(RacingPushes, FollowTheWinnerOfARace) {
  lose_races(3, [this] { push(build_snapshot()); });
  const auto snapshot = build_snapshot();
  EXPECT_EQ(push_hooked(snapshot).record.generation, 4U);
  expect_current(snapshot);
}

TEST_F(RacingPushes, CheckTheGuardsAgainstTheWinnerOfARace) {
  lose_races(1, [this] { push(build_snapshot({.keys = 10'000})); });
  const auto snapshot = build_snapshot({.keys = 1000});
  EXPECT_THAT([&] { push_hooked(snapshot); },
              fails(ErrorKind::MaxShrink, HasSubstr("shrank from 10,000 to 1,000")));
  EXPECT_EQ(current().key_count, 10'000U);
  EXPECT_FALSE(has_chunks_of(snapshot)) << "it had put them before it lost";
  EXPECT_THAT(pointer().pending, IsEmpty());
  EXPECT_THAT(pointer().garbage, IsEmpty());
}

TEST_F(RacingPushes, AgreeWhenTheyPushTheSameBuild) {
  const auto snapshot = build_snapshot();
  lose_races(1, [&] { push(snapshot); });
  EXPECT_EQ(push_hooked(snapshot).record.generation, 1U);
  expect_current(snapshot);
  EXPECT_THAT(keys(), SizeIs(1 + 1)) << "its chunk once, and the pointer";
}

TEST_F(RacingPushes, GiveUpAfterManyLostRaces) {
  lose_races(1'000'000, [this] { push(build_snapshot({.keys = 10})); });
  EXPECT_THAT([&] { push_hooked(build_snapshot({.keys = 10})); }, fails(ErrorKind::Locked));
}

TEST_F(RacingPushes, KeepTheChunksOfARefusedBuildThatARivalPublished) {
  const auto snapshot = build_snapshot({.keys = 1000});
  // The rival publishes the same build, then a larger one, so that this one shrinks the set.
  lose_races(1, [&] {
    push(snapshot);
    push(build_snapshot({.keys = 10'000}));
  });
  EXPECT_THAT([&] { push_hooked(snapshot); }, fails(ErrorKind::MaxShrink));
  EXPECT_TRUE(has_chunks_of(snapshot)) << "generation 1, which is kept";
  EXPECT_THAT(keys(), SizeIs(2 + 1)) << "a chunk of each generation, and the pointer";
}

TEST_F(RacingPushes, FindOutThatOnlyTheAnswerWasLost) {
  lose_answers(1);
  EXPECT_EQ(push_hooked(build_snapshot()).record.generation, 1U);
  EXPECT_THAT(pointer().previous, IsEmpty());
  EXPECT_THAT(keys(), SizeIs(1 + 1)) << "its chunk once, and the pointer";
}

TEST_F(RacingPushes, ClaimNoSuccessThatTheStoreDoesNotConfirm) {
  lose_answers(1'000'000);
  const auto snapshot = build_snapshot();
  EXPECT_THAT([&] { push_hooked(snapshot); }, fails(ErrorKind::Unconfirmed));
  EXPECT_EQ(current().generation, 1U) << "it has moved all the same";
  expect_current(snapshot);
  EXPECT_EQ(push(snapshot).record.generation, 1U);
}

TEST_F(RacingPushes, AllotEachItsOwnGeneration) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kPushes = 5;
  std::vector<std::vector<SnapshotBytes>> snapshots(kThreads);
  for (auto& own : snapshots)
    std::generate_n(std::back_inserter(own), kPushes, [] { return build_snapshot(); });
  std::vector<std::vector<std::uint64_t>> generations(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&own = generations[i], &mine = snapshots[i], this] {
      const auto store = open_store(url_);
      for (const SnapshotBytes& snapshot : mine) {
        own.push_back(keysieve::push(*store, view_of(snapshot), {}).record.generation);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::vector<std::uint64_t> all;
  for (const auto& own : generations) {
    EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
    all.insert(all.end(), own.begin(), own.end());
  }
  std::vector<std::uint64_t> expected(kThreads * kPushes);
  std::iota(expected.begin(), expected.end(), 1);
  EXPECT_THAT(all, UnorderedElementsAreArray(expected));
  EXPECT_EQ(pull().record.generation, kThreads * kPushes);
}

}  // namespace
}  // namespace keysieve::test
