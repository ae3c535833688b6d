// A deed that is stopped after each of its instructions, as if its process were killed or made to wait there.
#pragma once

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <csignal>

#include "tests/support/forked.hpp"

namespace keysieve::test {

// In a process of its own, carries out what `prepare` returns, instruction by instruction. `look` is called
// before each, in this process. False when this one may not trace another.
template <typename Prepare, typename Look>
bool step_through(Prepare prepare, Look look) {
  const pid_t child = start_process([&] {
    const auto deed = prepare();
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) return 1;
    ::raise(SIGSTOP);
    deed();
    ::raise(SIGSTOP);
    return 0;
  });
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return false;
  do {
    look();
    ::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr);
  } while (::waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
  ::kill(child, SIGKILL);
  wait_for(child);
  return true;
}

}  // namespace keysieve::test
