// Work in a process of its own, for what concerns other processes, other users or being killed.
#pragma once

#include <grp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "core/worker/base/error.hpp"

namespace keysieve::test {

inline constexpr int kUnexpected = 99;

// What a child that ends by an Error reports.
inline int exit_status_of(ErrorKind kind) {
  return 10 + static_cast<int>(kind);
}

// Forks a process that runs `work` and exits with what it returns. The caller waits for it; it does not
// outlive the caller.
template <typename Work>
pid_t start_process(Work work) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int status = kUnexpected;
  try {
    status = work();
  } catch (const Error& error) {
    status = exit_status_of(error.kind());
  } catch (...) {
  }
  ::_exit(status);
}

// Its exit status, or the negative number of the signal that ended it.
inline int wait_for(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return kUnexpected;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

template <typename Work>
int run_in_process(Work work) {
  return wait_for(start_process(work));
}

// Accounts that no machine has: another user than the one that runs the tests, and the group of the workers.
inline constexpr uid_t kOtherUser = 54'321;
inline constexpr gid_t kWorkerGroup = 54'322;

// Works as another user, whose only group is `group`. Only root can do that.
template <typename Work>
int run_as(uid_t user, gid_t group, Work work) {
  return run_in_process([&] {
    if (::setgroups(0, nullptr) != 0 || ::setgid(group) != 0 || ::setuid(user) != 0) return kUnexpected;
    return work();
  });
}

inline bool is_root() {
  return ::geteuid() == 0;
}

// Time limit for things that must happen: a busy machine is not a failure. Only a failing test takes this
// long.
inline constexpr std::chrono::seconds kDeadline{120};

// Looks again and again until `holds` returns true, for at most kDeadline.
template <typename Predicate>
bool eventually(Predicate holds) {
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// For stores with a short time limit, which a busy machine may exceed in a case that is not about the
// limit. Retries while `ask` throws Unavailable, for at most kDeadline, then throws it. Returns its result.
template <typename Ask>
auto when_available(const Ask& ask) {
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  for (;;) {
    try {
      return ask();
    } catch (const Error& error) {
      if (!error.is_outage()) throw;
      if (std::chrono::steady_clock::now() > end) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace keysieve::test
