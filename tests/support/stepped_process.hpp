// A child process that stops before any of its instructions, again and again in a loop: there a test lets
// others work, or kills it. Only on x86-64, and only if a process may be traced.
#pragma once

#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tests/support/forked.hpp"

namespace keysieve::test {

class SteppedProcess {
 public:
  // Starts `work`, and lets it run to where it first calls stop_here().
  template <typename Work>
  explicit SteppedProcess(Work work)
      : pid_(start_process([&] {
          if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) return kUnexpected;
          work();
          return 0;
        })) {
    may_trace_ = kIsKnown && wait() == SIGSTOP;
  }
  SteppedProcess(const SteppedProcess&) = delete;
  SteppedProcess& operator=(const SteppedProcess&) = delete;
  ~SteppedProcess() {
    ::kill(pid_, SIGKILL);
    wait_for(pid_);
  }

  // For the child: the next functions go as far as this.
  static void stop_here() { ::kill(::getpid(), SIGSTOP); }

  [[nodiscard]] bool may_trace() const noexcept { return may_trace_; }

  // Runs to the next stop_here(). False when the process has ended instead.
  bool resume() {
    for (;;) {
      ::ptrace(PTRACE_CONT, pid_, nullptr, nullptr);
      const int signal = wait();
      if (signal != SIGTRAP) return signal == SIGSTOP;
    }
  }

  // Executes one instruction. False when it comes to stop_here(), or has ended.
  bool step() {
    ::ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr);
    return wait() == SIGTRAP;
  }

  // Runs to where it comes to that instruction next. False when it comes to stop_here(), or has ended.
  bool run_to(std::uint64_t address) {
    constexpr std::uint64_t kLowestByte = 0xff;
    constexpr std::uint64_t kBreakpoint = 0xcc;  // int3
    const std::uint64_t code = code_at(address);
    set_code(address, (code & ~kLowestByte) | kBreakpoint);
    bool has_come = false;
    for (;;) {
      ::ptrace(PTRACE_CONT, pid_, nullptr, nullptr);
      if (wait() != SIGTRAP) break;
      Registers all = registers();
      if (all.rip != address + 1) continue;
      has_come = true;
      all.rip = address;
      set_registers(all);
      break;
    }
    set_code(address, code);
    return has_come;
  }

  // The addresses of all instructions to the next stop_here(), which are executed.
  struct Trace {
    std::vector<std::uint64_t> addresses;
    std::vector<std::size_t> exchanges;  // which of them are atomic exchanges of 16 bytes
  };
  Trace trace() {
    Trace trace;
    do {
      trace.addresses.push_back(registers().rip);
      if (is_exchange(trace.addresses.back())) trace.exchanges.push_back(trace.addresses.size() - 1);
    } while (step());
    return trace;
  }

  // Executes that many instructions, when it will execute those of the trace. False when it comes to
  // stop_here() instead. Steps are slow: most of the way it runs from one time that it comes to a certain
  // instruction to the next.
  bool run_along(const Trace& trace, std::size_t instructions) {
    constexpr std::size_t kStopsForATime = 3;
    std::map<std::uint64_t, std::size_t> times;  // so far
    std::size_t best = 0;
    std::size_t times_of_best = 0;
    std::size_t least_stops = instructions;
    for (std::size_t at = 0; at <= instructions; ++at) {
      const std::size_t before = times[trace.addresses[at]]++;
      const std::size_t stops = kStopsForATime * (before + 1) + instructions - at;
      if (at == 0 || stops > least_stops) continue;  // it is at the first one already
      best = at;
      times_of_best = before + 1;
      least_stops = stops;
    }
    if (best > 0 && trace.addresses[best] == trace.addresses[0]) --times_of_best;
    for (std::size_t time = 0; time < times_of_best; ++time) {
      if ((time > 0 && !step()) || !run_to(trace.addresses[best])) return false;
    }
    for (std::size_t at = best; at < instructions; ++at) {
      if (!step()) return false;
    }
    return true;
  }

 private:
#if defined(__x86_64__)
  static constexpr bool kIsKnown = true;
  using Registers = user_regs_struct;
  [[nodiscard]] Registers registers() const {
    Registers all{};
    ::ptrace(PTRACE_GETREGS, pid_, nullptr, &all);
    return all;
  }
  void set_registers(Registers all) const {
    ::ptrace(PTRACE_SETREGS, pid_, nullptr, &all);
  }
#else
  static constexpr bool kIsKnown = false;
  struct Registers {
    std::uint64_t rip;
  };
  [[nodiscard]] Registers registers() const {
    return {};
  }
  void set_registers(Registers /*all*/) const {}
#endif

  [[nodiscard]] std::uint64_t code_at(std::uint64_t address) const {
    return static_cast<std::uint64_t>(::ptrace(PTRACE_PEEKTEXT, pid_, address, nullptr));
  }
  void set_code(std::uint64_t address, std::uint64_t code) const {
    ::ptrace(PTRACE_POKETEXT, pid_, address, code);
  }
  // lock cmpxchg16b
  [[nodiscard]] bool is_exchange(std::uint64_t address) const {
    return (code_at(address) & 0x38fffff8ff) == 0x08c70f48f0;
  }

  // The signal that it has stopped by; 0 when it has ended.
  [[nodiscard]] int wait() const {
    int status = 0;
    return ::waitpid(pid_, &status, 0) == pid_ && WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
  }

  pid_t pid_;
  bool may_trace_ = false;
};

}  // namespace keysieve::test
