// Runs a program to its end, as a shell would: arguments, environment and standard input in; exit status and
// everything it has printed out. Used by suites that test a program as its users see it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace keysieve::test {

struct ProgramCall {
  std::string program;  // path
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

ProgramResult run_program(const ProgramCall& call);

}  // namespace keysieve::test
