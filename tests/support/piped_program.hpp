// A program that runs while the test goes on: what it reads is written, and what it prints is read, a line at
// a time. Used by suites of programs that follow what happens.
#pragma once

#include <sys/types.h>

#include <string>

#include "core/base/file_descriptor.hpp"
#include "tests/support/run_program.hpp"

namespace keysieve::test {

class PipedProgram {
 public:
  // Takes program, arguments and environment of the call.
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
