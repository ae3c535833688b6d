// Runs work in several threads. Used by builds.
#pragma once

#include <cstddef>
#include <functional>

namespace keysieve {

inline constexpr unsigned kMostThreads = 64;

// Processors that this process may run on (its affinity), at most kMostThreads.
unsigned usable_processors() noexcept;

// Calls run(thread, task) for each task from 0 on, taken in order by `threads` threads (fewer if the system
// gives no more). The caller is thread number 0. Returns when all have ended. After an exception no new task
// is started; then the exception of the first failed task is thrown, the same one however many threads there
// are.
void run_tasks(unsigned threads, std::size_t tasks,
               const std::function<void(unsigned thread, std::size_t task)>& run);

}  // namespace keysieve
