// A child process that stops before and after each of its system calls. There a test can look at it, kill
// it, or make the call fail. Only on x86-64, and only if a process may be traced.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tests/support/forked.hpp"

namespace keysieve::test {

// Whether this machine allows tracing.
bool can_trace();

class TracedProcess {
 public:
  // Starts `work` in a process of its own, as start_process() does, and stops it there.
  explicit TracedProcess(const std::function<int()>& work);
  TracedProcess(const TracedProcess&) = delete;
  TracedProcess& operator=(const TracedProcess&) = delete;
  ~TracedProcess() { kill(); }

  // Runs until the next system call and returns its number; nothing when its work is done instead.
  std::optional<std::uint64_t> next_call();
  // Like next_call(), but only for calls on files and sockets, not for those that get memory, the time or
  // the process id.
  std::optional<std::uint64_t> next_call_on_files();
  // Runs until it is before or behind a call; false when its work is done instead.
  bool step();
  bool steps(unsigned count);

  // Makes the call that it is before; nothing when the process ends in it.
  struct Call {
    std::uint64_t number;
    std::array<std::uint64_t, 6> arguments;
    std::int64_t result;  // or minus the number of an error
  };
  std::optional<Call> make_call();
  // Bytes of its memory, as far as they can be read.
  [[nodiscard]] std::string bytes_at(std::uint64_t address, std::size_t size) const;
  // Up to a zero byte.
  [[nodiscard]] std::string text_at(std::uint64_t address) const;

  // Skips the call that it is before and returns this error from it. Only close(2) is made all the same:
  // the descriptor is gone whatever close returns.
  void fail_call(int error_number);
  // Whether the call that it is before is read(2), write(2) or a variant of them, for at least two bytes or
  // two buffers.
  [[nodiscard]] bool moves_bytes() const;
  // Makes such a call ask for half as many bytes, or buffers.
  void halve_call();

  // Lets it run to its end: its exit status, or minus the signal that ended it.
  int finish();
  void kill();

 private:
  // Continues; true when it has stopped at a system call, false when it has ended.
  bool resume();

  pid_t pid_;
  bool is_before_a_call_ = false;
  std::optional<int> ended_;
};

}  // namespace keysieve::test
