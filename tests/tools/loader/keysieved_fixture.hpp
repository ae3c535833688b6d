// The program keysieved as a child process, with everything it prints.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/forked.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/loader/site.hpp"

namespace keysieve::test {

class KeysievedProcess {
 public:
  // `environment`: "NAME=value", added to that of the test. `own_errors`: a descriptor in place of what
  // standard_error() reads.
  explicit KeysievedProcess(std::vector<std::string> arguments, std::vector<std::string> environment = {},
                            std::optional<int> own_errors = std::nullopt) {
    const ProgramCall call{.program = KEYSIEVED_PROGRAM,
                           .arguments = std::move(arguments),
                           .environment = std::move(environment)};
    const FileDescriptor output = new_file(outputs_ / "out");
    const FileDescriptor errors = new_file(outputs_ / "err");
    pid_ = start_program(call, {STDIN_FILENO, output.get(), own_errors.value_or(errors.get())});
  }
  KeysievedProcess(const KeysievedProcess&) = delete;
  KeysievedProcess& operator=(const KeysievedProcess&) = delete;
  ~KeysievedProcess() {
    if (pid_ < 0) return;
    send(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void send(int signal) const { ::kill(pid_, signal); }
  // By SIGSTOP: "7 (keysieved) T ..."
  [[nodiscard]] bool is_stopped() const {
    return read_file("/proc/" + std::to_string(pid_) + "/stat").find(") T ") != std::string::npos;
  }
  // Does not wait; exit_status() tells how.
  [[nodiscard]] bool has_ended() const {
    siginfo_t ended{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == pid_;
  }
  // Waits for its end: the exit status, or minus the signal that ended it.
  int exit_status() {
    int status = 0;
    if (!eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; })) {
      throw std::runtime_error("keysieved does not end; it said: " + standard_error());
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  // Sends SIGTERM and waits.
  int stop() {
    send(SIGTERM);
    return exit_status();
  }

  [[nodiscard]] std::string standard_error() const { return read_file(outputs_ / "err"); }
  // Polls until standard error holds the text.
  [[nodiscard]] bool says(const std::string& text) const {
    return eventually([&] { return standard_error().find(text) != std::string::npos; });
  }
  // How many lines of standard error hold the text.
  [[nodiscard]] int lines_with(const std::string& text) const {
    std::istringstream lines(standard_error());
    int count = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.find(text) != std::string::npos) ++count;
    }
    return count;
  }

 private:
  static std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static FileDescriptor new_file(const std::string& path) {
    return FileDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  }

  TemporaryDirectory outputs_;
  pid_t pid_ = -1;
};

// keysieved running for one site.
class Keysieved : public ::testing::Test {
 protected:
  void start(const std::vector<std::string>& environment = {}) {
    keysieved_.emplace(std::vector<std::string>{"--log-level", "debug", "--config", site_.config_path()},
                       environment);
  }
  // Generation 1 is live. `rest` is configured as well.
  void follow_tags(const std::string& rest = "", const std::string& poll_interval = "20ms") {
    site_.push("tags", kKeys);
    site_.configure(rest + tags_set, site_.store_url(), poll_interval);
    start();
    ASSERT_TRUE(follows("tags", 1)) << log();
  }
  [[nodiscard]] bool follows(const std::string& set_name, std::uint64_t generation) const {
    return eventually([&] { return site_.live_generation(set_name) == generation; });
  }
  // So many further rounds have found the trouble that was said already.
  [[nodiscard]] bool looks_again(int rounds) const {
    const int before = keysieved_->lines_with("still:");
    return eventually([&] { return keysieved_->lines_with("still:") >= before + rounds; });
  }
  [[nodiscard]] bool says(const std::string& text) const { return keysieved_->says(text); }
  [[nodiscard]] std::string log() const { return keysieved_->standard_error(); }

  Site site_;
  std::optional<KeysievedProcess> keysieved_;
};

}  // namespace keysieve::test
