#include "core/builder/base/run_tasks.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace keysieve {
namespace {

using ::testing::StrEq;
using ::testing::ThrowsMessage;

TEST(RunTasks, RunsEachTaskOnceWithAnyNumberOfThreads) {
  for (const unsigned threads : {1U, 2U, 7U, kMostThreads}) {
    std::vector<std::atomic<int>> runs(100);
    run_tasks(threads, runs.size(), [&](unsigned thread, std::size_t task) {
      EXPECT_LT(thread, threads);
      ++runs[task];
    });
    EXPECT_TRUE(std::all_of(runs.begin(), runs.end(), [](const auto& count) { return count == 1; }));
  }
  run_tasks(2, 0, [](unsigned /*thread*/, std::size_t /*task*/) { FAIL() << "there is no task"; });
}

TEST(RunTasks, UsesTheCallingThreadAsNumber0) {
  const auto caller = std::this_thread::get_id();
  std::mutex mutex;
  std::set<std::thread::id> seen_as_0;
  run_tasks(4, 1'000, [&](unsigned thread, std::size_t /*task*/) {
    const std::lock_guard lock(mutex);
    if (thread == 0) seen_as_0.insert(std::this_thread::get_id());
    EXPECT_EQ(thread == 0, std::this_thread::get_id() == caller);
  });
  EXPECT_LE(seen_as_0.size(), 1U);
}

TEST(RunTasks, RethrowsTheExceptionOfTheFirstFailedTask) {
  for (const unsigned threads : {1U, 2U, 8U}) {
    std::atomic<int> late{0};
    const auto run = [&](unsigned /*thread*/, std::size_t task) {
      if (task >= 5'000) ++late;
      if (task >= 50) throw std::runtime_error("task " + std::to_string(task));
    };
    EXPECT_THAT([&] { run_tasks(threads, 1'000'000, run); },
                ThrowsMessage<std::runtime_error>(StrEq("task 50")));
    EXPECT_EQ(late, 0) << "after an exception nothing new is begun";
  }
}

TEST(RunTasks, FindsAtLeastOneProcessor) {
  EXPECT_GE(usable_processors(), 1U);
  EXPECT_LE(usable_processors(), kMostThreads);
}

}  // namespace
}  // namespace keysieve
