// The protocol between threads, for ThreadSanitizer, which does not see other processes.
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/core/seen/seen_sets.hpp"

namespace keysieve {
namespace {

using test::numbered_hash;

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
