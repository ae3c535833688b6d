// Eight workers and 1,000 windows, with and without kill -9: how often each key is new.
// large_seen_test does the same in full size.
#include "tests/core/seen/many_adds.hpp"

#include <array>
#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

namespace keysieve {
namespace {

using test::numbered_hash;

class ManyAddsTest : public test::SeenSets {
 protected:
  test::ManyAddsResult run(const test::ManyAdds& load) {
    SeenWriter writer = this->writer();
    writer.create(kSeed, OnUnavailable::Throw);
    test::ManyAddsRun run(load, directory_.path(), kSet);
    const test::ManyAddsResult result = run.run(writer);
    EXPECT_EQ(result.windows, load.windows);
    EXPECT_EQ(result.was_twice, 0U) << "of " << result.keys << " keys";
    EXPECT_EQ(result.unavailable, 0U);
    // Seen falsely, or new to a worker that was killed before it could tell, or to one that told too late.
    const double seen_falsely = run.rate() * static_cast<double>(result.keys);
    EXPECT_LE(static_cast<double>(result.never_new()),
              seen_falsely + 4 * std::sqrt(seen_falsely) + static_cast<double>(result.kills + result.late));
    EXPECT_GT(result.keys, load.workers * load.adds_per_worker * 4 / 10);
    return result;
  }
};

TEST_F(ManyAddsTest, AreNewExactlyOnceInThousandWindows) {
  run({.adds_per_worker = 50'000, .windows = 1'000, .live_windows = 16, .rate = 1e-7, .headroom = 4});
}

TEST_F(ManyAddsTest, AreNewAtMostOnceWhenWorkersAreKilled) {
  const test::ManyAddsResult result = run({.adds_per_worker = 50'000,
                                           .windows = 1'000,
                                           .live_windows = 16,
                                           .rate = 1e-7,
                                           .headroom = 4,
                                           .kill_every = std::chrono::milliseconds(5)});
  EXPECT_GT(result.kills, 10U);
}

// All threads add the same keys in the same order, while windows come and go.
class SeenBesideThreads : public test::SeenSets {};

TEST_F(SeenBesideThreads, AreNewToOneThread) {
  constexpr std::uint64_t kKeysPerWindow = 50;
  constexpr std::uint64_t kWindows = 200;
  constexpr int kThreads = 4;
  SeenWriter writer = new_writer({roomy_plan()});
  std::array<std::atomic<int>, kKeysPerWindow * kWindows> wins{};
  std::atomic<std::uint64_t> next_window{1};
  std::atomic<int> unavailable{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      SeenReader reader = this->reader();
      for (std::uint64_t key = 0; key < wins.size(); ++key) {
        while (key / kKeysPerWindow >= next_window) std::this_thread::yield();
        if (!reader.follow())
          ++unavailable;
        else if (reader.add_if_new(numbered_hash(key)) == SeenAnswer::New)
          ++wins[key];
      }
    });
  }
  for (; next_window < kWindows; ++next_window) {
    test::append(writer, {roomy_plan()});  // threads that lag add all keys to the last one
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  int never_new = 0;
  for (const std::atomic<int>& count : wins) {
    EXPECT_LE(count, 1);
    never_new += count == 0 ? 1 : 0;
  }
  EXPECT_LE(never_new, 1) << "seen falsely: 0.01 of all keys if the last window has them all";
  EXPECT_EQ(unavailable, 0);
}

}  // namespace
}  // namespace keysieve
