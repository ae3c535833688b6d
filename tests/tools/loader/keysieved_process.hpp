// The program keysieved as a child process, with everything it prints.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/support/forked.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {

class KeysievedProcess {
 public:
  // `environment`: "NAME=value", added to that of the test. `cgroup`: the folder of a control group that it
  // runs in; empty: that of the test.
  explicit KeysievedProcess(std::vector<std::string> arguments, std::vector<std::string> environment = {},
                            const std::string& cgroup = "");
  KeysievedProcess(const KeysievedProcess&) = delete;
  KeysievedProcess& operator=(const KeysievedProcess&) = delete;
  ~KeysievedProcess();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void send(int signal) const { ::kill(pid_, signal); }
  // By SIGSTOP.
  [[nodiscard]] bool is_stopped() const;
  // Waits for its end: the exit status, or minus the signal that ended it.
  int exit_status();
  // Sends SIGTERM and waits.
  int stop() {
    send(SIGTERM);
    return exit_status();
  }

  [[nodiscard]] std::string standard_output() const;
  [[nodiscard]] std::string standard_error() const;
  // Polls until standard error holds the text.
  [[nodiscard]] bool says(const std::string& text) const;
  // How many lines of standard error hold the text.
  [[nodiscard]] int lines_with(const std::string& text) const;

 private:
  TemporaryDirectory outputs_;
  pid_t pid_ = -1;
};

}  // namespace keysieve::test
