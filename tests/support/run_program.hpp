// Runs programs as a shell would, for suites that test a program as its users see it, and for servers.
#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve::test {

struct ProgramCall {
  std::string program;  // a path, or a name to find in PATH
  std::vector<std::string> arguments{};
  std::vector<std::string> environment{};  // "NAME=value", added to that of the test
  std::string input{};
  std::optional<uid_t> user{};      // the caller's, unless root asks for another
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

// Runs it to its end: arguments, environment and standard input in; exit status and output out.
ProgramResult run_program(const ProgramCall& call);

// Only starts it, with these descriptors as its standard streams. The caller waits for it. It is killed
// with the caller, or after so many seconds (0: no limit).
pid_t start_program(const ProgramCall& call, const std::array<int, 3>& streams, unsigned most_seconds = 0);

// A program that runs while the test goes on. The test writes its input and reads its output, line by line.
class PipedProgram {
 public:
  // Uses program, arguments, environment and user of the call.
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
