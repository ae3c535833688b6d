// Runs programs as a shell would, for suites that test a program as its users see it, and for servers.
#pragma once

#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve::test {

struct ProgramCall {
  std::string program;  // a path, or a name to find in PATH
  std::vector<std::string> arguments{};
  std::vector<std::string> environment{};  // "NAME=value", added to that of the test
  std::string input{};
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

}  // namespace keysieve::test
