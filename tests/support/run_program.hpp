// Runs programs as a shell would. Used by suites that test a program as its users see it, and for servers.
#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/base/file_descriptor.hpp"

namespace keysieve::test {

struct ProgramCall {
  std::string program;  // path, or a name that PATH leads to
  std::vector<std::string> arguments{};
  std::vector<std::string> environment{};  // "NAME=value", added to that of the test
  std::string input{};
  std::optional<uid_t> user{};      // the caller's, unless it is root and says another
  bool errors_on_terminal = false;  // standard error is a terminal
  // Standard input and standard error are a terminal, on which this is typed; "\4" at its end closes the
  // input.
  std::optional<std::string> typed{};
  std::optional<std::string> output_to{};  // file that standard output goes to, /dev/full for example
};

struct ProgramResult {
  int exit_status = 0;  // or minus the signal that ended it; SIGALRM when it took too long
  std::string output;
  std::string errors;
};

// To its end: arguments, environment and standard input in; exit status and everything it has printed out.
ProgramResult run_program(const ProgramCall& call);

// Only starts it, with these descriptors as its standard streams. The caller waits for it; it does not
// outlive the caller, nor so many seconds (0: no limit).
pid_t start_program(const ProgramCall& call, const std::array<int, 3>& streams, unsigned most_seconds = 0);

// Runs while the test goes on: what it reads is written, and what it prints is read, a line at a time.
class PipedProgram {
 public:
  // Takes program, arguments, environment and user of the call.
  explicit PipedProgram(const ProgramCall& call);
  PipedProgram(const PipedProgram&) = delete;
  PipedProgram& operator=(const PipedProgram&) = delete;
  ~PipedProgram();

  void write(const std::string& text) const;
  // The next line that it prints, without its end; throws when none comes within kDeadline.
  [[nodiscard]] std::string line();
  // Closes its standard input, waits for its end, returns what it has printed since the last line().
  [[nodiscard]] ProgramResult end();

 private:
  FileDescriptor input_;
  FileDescriptor output_;
  FileDescriptor errors_;
  pid_t pid_ = -1;
  std::string unread_;  // of its output
};

}  // namespace keysieve::test
