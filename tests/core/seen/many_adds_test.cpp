// Eight workers add keys, half of them more than once, while 1,000 windows come and go, with and without kill
// -9: how often each key is new.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <random>
#include <thread>
#include <vector>

#include "tests/core/seen/seen_sets.hpp"
#include "tests/support/shared_page.hpp"

namespace keysieve {
namespace {

using test::numbered_hash;

constexpr std::size_t kAdders = 8;
constexpr std::uint64_t kAddsPerWorker = 50'000;
constexpr std::uint32_t kWindows = 1'000;   // in which these are made
constexpr std::uint32_t kLiveWindows = 16;  // from then on a window is forgotten
constexpr std::uint64_t kAddsPerWindow = kAdders * kAddsPerWorker / kWindows;
// Then half of the adds are of a key that was added before: for n = 1.594, (1 - e^-n) / n = 0.5.
constexpr std::uint64_t kKeysPerWindow = kAddsPerWindow * 1'000 / 1'594;
constexpr std::uint64_t kAllKeys = kKeysPerWindow * (kWindows + 1);
constexpr std::uint64_t kCapacity = 4 * kAddsPerWindow / 2;  // of a window: the loader may be late
constexpr double kRateOfWindow = 1e-7;                       // likewise
// A worker may have made the adds of so many windows to come, before it waits for the loader.
constexpr std::uint64_t kWindowsAhead = 4;
// Of a key: this bit, and how often it was new.
constexpr unsigned kAdded = 128;

struct ManyAdds {
  struct alignas(kCacheLineBytes) Progress {
    std::atomic<std::uint64_t> adds{0};
  };
  std::atomic<std::uint32_t> window{0};
  std::atomic<std::uint64_t> unavailable{0};
  std::atomic<std::uint64_t> late{0};  // adds that took too long to count
  std::array<Progress, kAdders> progress{};
  std::array<std::atomic<std::uint8_t>, kAllKeys> keys;
};

// A key is born in a window, and counts while half of the live windows have begun since: so no call that
// counts, however long it takes, is made when a filter that may hold the key is gone.
class ManyAddsTest : public test::SeenSets {
 protected:
  // One of the workers is killed so often, and started again; 0: never. Returns how often that was.
  std::uint64_t run(std::chrono::milliseconds kill_every) {
    SeenWriter writer = new_writer();
    append(writer, 0);
    std::vector<pid_t> workers;
    for (std::size_t i = 0; i < kAdders; ++i) workers.push_back(start(i));
    std::uint64_t kills = 0;
    std::mt19937_64 random(1);
    auto next_kill = std::chrono::steady_clock::now() + kill_every;
    for (std::uint32_t window = 0; window + 1 < kWindows || adds() < kAdders * kAddsPerWorker;) {
      if (window + 1 < kWindows && adds() >= (window + 1) * kAddsPerWindow) {
        append(writer, ++window);
        writer.retire(test::at(window));
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
      if (kill_every.count() != 0 && std::chrono::steady_clock::now() >= next_kill) {
        const std::size_t victim = random() % kAdders;
        ::kill(workers[victim], SIGKILL);
        if (test::wait_for(workers[victim]) == -SIGKILL) ++kills;
        workers[victim] = start(victim);
        next_kill = std::chrono::steady_clock::now() + kill_every;
      }
    }
    for (const pid_t worker : workers) EXPECT_EQ(test::wait_for(worker), 0);
    expect_new_once(kills);
    return kills;
  }

 private:
  void expect_new_once(std::uint64_t kills) const {
    std::uint64_t added = 0;
    std::uint64_t never_new = 0;
    std::uint64_t new_twice = 0;
    for (const std::uint8_t key : shared_->keys) {
      added += key >= kAdded ? 1U : 0U;
      never_new += key == kAdded ? 1U : 0U;
      new_twice += key % kAdded > 1 ? 1U : 0U;
    }
    EXPECT_EQ(new_twice, 0U) << "of " << added << " keys";
    EXPECT_EQ(shared_->unavailable, 0U);
    // Seen falsely, or new to a worker that was killed before it could tell, or to one that told too late.
    const double seen_falsely = kLiveWindows * kRateOfWindow * static_cast<double>(added);
    EXPECT_LE(static_cast<double>(never_new),
              seen_falsely + 4 * std::sqrt(seen_falsely) + static_cast<double>(kills + shared_->late));
    EXPECT_GT(added, kAdders * kAddsPerWorker * 4 / 10);
  }

  [[nodiscard]] std::uint64_t adds() const {
    std::uint64_t sum = 0;
    for (const auto& progress : shared_->progress) sum += progress.adds;
    return sum;
  }
  void append(SeenWriter& writer, std::uint32_t window) const {
    writer.append({.window = {.begins = window, .ends = window + 1, .kept_for = kLiveWindows - 1},
                   .capacity = kCapacity,
                   .rate = kRateOfWindow,
                   .size = seen_size(kCapacity, kRateOfWindow)},
                  window);
    shared_->window = window;
  }
  [[nodiscard]] pid_t start(std::size_t worker) const {
    return test::start_process([this, worker] {
      add(shared_->progress[worker].adds, worker);
      return 0;
    });
  }
  // Goes on where the one before it was killed.
  void add(std::atomic<std::uint64_t>& progress, std::uint64_t seed) const {
    SeenReader reader = this->reader();
    std::mt19937_64 random(seed << 32 ^ progress);
    while (progress < kAddsPerWorker) {
      const std::uint32_t window = shared_->window;
      if (progress > (window + kWindowsAhead) * kAddsPerWorker / kWindows) {
        std::this_thread::yield();
        continue;
      }
      const std::uint32_t born =
          window - static_cast<std::uint32_t>(random() % (std::min(window, kLiveWindows / 4) + 1));
      const std::uint64_t number = born * kKeysPerWindow + random() % kKeysPerWindow;
      ++progress;
      if (!reader.follow()) {
        ++shared_->unavailable;
        continue;
      }
      const SeenAnswer answer = reader.add_if_new(numbered_hash(number));
      if (answer == SeenAnswer::Unknown) ++shared_->unavailable;
      if (shared_->window - born > kLiveWindows / 2) {
        ++shared_->late;
        continue;
      }
      shared_->keys[number] |= kAdded;
      if (answer == SeenAnswer::New) ++shared_->keys[number];
    }
  }

  const test::SharedPage<ManyAdds> shared_;
};

TEST_F(ManyAddsTest, AreNewExactlyOnceInThousandWindows) {
  run(std::chrono::milliseconds(0));
}

TEST_F(ManyAddsTest, AreNewAtMostOnceWhenWorkersAreKilled) {
  EXPECT_GT(run(std::chrono::milliseconds(5)), 10U);
}

// All threads add the same keys in the same order, while windows come and go.
class SeenBesideThreads : public test::SeenSets {};

TEST_F(SeenBesideThreads, AreNewToOneThread) {
  constexpr std::uint64_t kKeysEach = 50;
  constexpr std::uint64_t kManyWindows = 200;
  constexpr int kThreads = 4;
  SeenWriter writer = new_writer({roomy_plan()});
  std::array<std::atomic<int>, kKeysEach * kManyWindows> wins{};
  std::atomic<std::uint64_t> next_window{1};
  std::atomic<int> unavailable{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      SeenReader reader = this->reader();
      for (std::uint64_t key = 0; key < wins.size(); ++key) {
        while (key / kKeysEach >= next_window) std::this_thread::yield();
        if (!reader.follow())
          ++unavailable;
        else if (reader.add_if_new(numbered_hash(key)) == SeenAnswer::New)
          ++wins[key];
      }
    });
  }
  for (; next_window < kManyWindows; ++next_window) {
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
