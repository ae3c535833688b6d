#include "tests/support/traced_process.hpp"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <stdexcept>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve::test {

namespace {

constexpr int kStoppedAtACall = SIGTRAP | 0x80;

#if defined(__x86_64__)
using Registers = user_regs_struct;

Registers registers_of(pid_t pid) {
  Registers registers{};
  if (::ptrace(PTRACE_GETREGS, pid, nullptr, &registers) != 0)
    throw std::runtime_error("cannot read registers");
  return registers;
}

void set_registers(pid_t pid, Registers registers) {
  if (::ptrace(PTRACE_SETREGS, pid, nullptr, &registers) != 0)
    throw std::runtime_error("cannot set registers");
}
#else
struct Registers {
  std::uint64_t orig_rax, rax, rdi, rsi, rdx, r10, r8, r9;
};
Registers registers_of(pid_t /*pid*/) {
  throw std::runtime_error("these registers are unknown");
}
void set_registers(pid_t /*pid*/, const Registers& /*registers*/) {}
#endif

bool is_on_files(const Registers& registers) {
  constexpr std::array<std::uint64_t, 21> kOthers{
      SYS_sigaltstack,    SYS_brk,           SYS_munmap,      SYS_mprotect,   SYS_mremap,
      SYS_madvise,        SYS_futex,         SYS_getpid,      SYS_gettid,     SYS_geteuid,
      SYS_getuid,         SYS_rt_sigaction,  SYS_tgkill,      SYS_getrandom,  SYS_rt_sigpending,
      SYS_rt_sigprocmask, SYS_clock_gettime, SYS_sched_yield, SYS_exit_group, SYS_rt_sigtimedwait,
      SYS_clock_nanosleep};
  if (registers.orig_rax == SYS_mmap) return static_cast<int>(registers.r8) >= 0;  // else memory
  return std::find(kOthers.begin(), kOthers.end(), registers.orig_rax) == kOthers.end();
}

}  // namespace

bool can_trace() {
  static const bool can = [] {
    try {
      return TracedProcess([] { return ::getppid() == 0 ? 1 : 0; }).next_call().has_value();
    } catch (const std::runtime_error&) {
      return false;
    }
  }();
  return can;
}

TracedProcess::TracedProcess(const std::function<int()>& work)
    : pid_(start_process([&work] {
        if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) return kUnexpected;
        ::raise(SIGSTOP);
        return work();
      })) {
  int status = 0;
  if (::waitpid(pid_, &status, 0) != pid_ || !WIFSTOPPED(status) ||
      ::ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) != 0) {
    throw std::runtime_error("may not trace a process");
  }
}

bool TracedProcess::resume() {
  int status = 0;
  int signal = 0;
  for (;;) {
    if (::ptrace(PTRACE_SYSCALL, pid_, nullptr, signal) != 0 || ::waitpid(pid_, &status, 0) != pid_) {
      throw std::runtime_error("lost the process that is traced");
    }
    if (!WIFSTOPPED(status)) {
      ended_ = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
      return false;
    }
    if (WSTOPSIG(status) == kStoppedAtACall) break;
    signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
  }
  is_before_a_call_ = !is_before_a_call_;
  return true;
}

bool TracedProcess::step() {
  return !ended_ && resume() && registers_of(pid_).orig_rax != SYS_exit_group;
}

std::optional<std::uint64_t> TracedProcess::next_call() {
  do {
    if (!step()) return std::nullopt;
  } while (!is_before_a_call_);
  return registers_of(pid_).orig_rax;
}

std::optional<std::uint64_t> TracedProcess::next_call_on_files() {
  while (const auto call = next_call()) {
    if (is_on_files(registers_of(pid_))) return call;
  }
  return std::nullopt;
}

std::optional<TracedProcess::Call> TracedProcess::make_call() {
  if (!resume()) return std::nullopt;
  const auto made = registers_of(pid_);
  return Call{made.orig_rax,
              {made.rdi, made.rsi, made.rdx, made.r10, made.r8, made.r9},
              static_cast<std::int64_t>(made.rax)};
}

std::string TracedProcess::bytes_at(std::uint64_t address, std::size_t size) const {
  const FileDescriptor memory(
      ::open(("/proc/" + std::to_string(pid_) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  std::string bytes(size, '\0');
  const ssize_t read = ::pread(memory.get(), bytes.data(), size, static_cast<off_t>(address));
  bytes.resize(read > 0 ? static_cast<std::size_t>(read) : 0);
  return bytes;
}

std::string TracedProcess::text_at(std::uint64_t address) const {
  constexpr std::size_t kLongestPath = 4096;
  const std::string bytes = bytes_at(address, kLongestPath);
  return bytes.substr(0, bytes.find('\0'));
}

void TracedProcess::fail_call(int error_number) {
  auto registers = registers_of(pid_);
  if (registers.orig_rax != SYS_close) {
    registers.orig_rax = ~std::uint64_t{0};  // no such call
    set_registers(pid_, registers);
  }
  if (!resume()) return;
  registers = registers_of(pid_);
  registers.rax = static_cast<std::uint64_t>(-static_cast<std::int64_t>(error_number));
  set_registers(pid_, registers);
}

bool TracedProcess::moves_bytes() const {
  constexpr std::array<std::uint64_t, 8> kMoving{SYS_read,   SYS_write,    SYS_pread64, SYS_pwrite64,
                                                 SYS_sendto, SYS_recvfrom, SYS_writev,  SYS_pwritev};
  const auto registers = registers_of(pid_);
  return std::find(kMoving.begin(), kMoving.end(), registers.orig_rax) != kMoving.end() && registers.rdx >= 2;
}

void TracedProcess::halve_call() {
  auto registers = registers_of(pid_);
  const std::uint64_t asked = registers.rdx;
  registers.rdx /= 2;
  set_registers(pid_, registers);
  if (!resume()) return;
  registers = registers_of(pid_);
  registers.rdx = asked;  // as the kernel leaves it, which compilers rely on
  set_registers(pid_, registers);
}

int TracedProcess::finish() {
  if (!ended_) {
    ::ptrace(PTRACE_DETACH, pid_, nullptr, nullptr);
    ended_ = wait_for(pid_);
  }
  return *ended_;
}

bool TracedProcess::steps(unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    if (!step()) return false;
  }
  return true;
}

void TracedProcess::kill() {
  if (ended_) return;
  ::kill(pid_, SIGKILL);
  ended_ = wait_for(pid_);
}

}  // namespace keysieve::test
