#include "core/builder/base/run_tasks.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace keysieve {

unsigned usable_processors() noexcept {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return std::clamp(static_cast<unsigned>(CPU_COUNT(&allowed)), 1U, kMostThreads);
}

void run_tasks(unsigned threads, std::size_t tasks,
               const std::function<void(unsigned thread, std::size_t task)>& run) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::size_t failed_task = tasks;
  std::exception_ptr failure;
  const auto work = [&](unsigned thread) {
    for (std::size_t task = next++; task < tasks; task = next++) {
      try {
        run(thread, task);
      } catch (...) {
        next = tasks;
        const std::lock_guard lock(mutex);
        if (task < failed_task) {
          failed_task = task;
          failure = std::current_exception();
        }
      }
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (unsigned thread = 1; thread < std::min<std::size_t>(threads, tasks); ++thread) {
        others.emplace_back(work, thread);
      }
    } catch (const std::system_error&) {
      // The threads that the system gave do all the work.
    }
    work(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace keysieve
