// A child process that stands still before and after each of its system calls, where it can be looked at,
// killed, or told that the call has failed; and one that is stopped after each of its instructions. x86-64
// only, and only where a process may be traced.
#pragma once

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "tests/support/forked.hpp"

namespace keysieve::test {

// Whether this machine lets a test do that.
bool can_trace();

class TracedProcess {
 public:
  // Begins to `work` in a process of its own, as start_process() does, and stops it there.
  explicit TracedProcess(const std::function<int()>& work);
  TracedProcess(const TracedProcess&) = delete;
  TracedProcess& operator=(const TracedProcess&) = delete;
  ~TracedProcess() { kill(); }

  // Runs on until it stands before its next system call, the number of which is returned; nothing when its
  // work is done instead.
  std::optional<std::uint64_t> next_call();
  // As next_call(), for the calls on files and sockets alone: not those that a program has its memory, the
  // time or its own number from.
  std::optional<std::uint64_t> next_call_on_files();
  // Runs on until it stands before or behind a call; false when its work is done instead.
  bool step();
  bool steps(unsigned count);

  // The call that it stands before is not made, but ends with this error. Only close(2) is made all the same,
  // since a descriptor is gone whatever that says.
  void fail_call(int error_number);
  // Whether the call that it stands before is read(2) or write(2) or one of their kin, for two bytes or more,
  // or for two buffers or more.
  [[nodiscard]] bool moves_bytes() const;
  // Such a call is asked for half as many bytes, or buffers.
  void halve_call();

  // Lets it run to its end: its exit status, or minus the signal that ended it.
  int finish();
  void kill();

 private:
  // How it went on: stopped at a system call, or ended.
  bool resume();

  pid_t pid_;
  bool is_before_a_call_ = false;
  std::optional<int> ended_;
};

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
