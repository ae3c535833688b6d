// The program keysieve as its users run it, with shared memory, files and a store in a temporary directory:
// for what the transcripts cannot play.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/support/run_program.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

class KeysieveProgram : public ::testing::Test {
 protected:
  KeysieveProgram();

  // Runs it with KEYSIEVE_DIRECTORY naming shared_memory(), and no password in the environment.
  [[nodiscard]] ProgramResult keysieve(Words arguments) const { return run_program(call_of(arguments)); }
  // The call that keysieve() makes, to be changed.
  [[nodiscard]] ProgramCall call_of(Words arguments) const;
  // Runs it, expects success and nothing on standard error; returns what it prints.
  [[nodiscard]] std::string said(Words arguments) const;
  // The same, whatever it prints.
  void run(Words arguments) const { static_cast<void>(said(std::move(arguments))); }
  // "w0" to "w<count - 1>", a line each.
  static std::string numbered_lines(int count);
  // Writes a file; returns its path.
  std::string write(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string read(const std::string& path) const;
  // Builds a snapshot <name>.ks of the set "tags" from <name>.txt; returns its path.
  std::string build(const std::string& name, const std::string& key_text) const {
    run({"build", "--set", "tags", "-o", path(name + ".ks"), write(name + ".txt", key_text)});
    return path(name + ".ks");
  }

  [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name; }
  [[nodiscard]] std::string shared_memory() const { return directory_ / "shm"; }
  // A store that is made when it is first written to.
  [[nodiscard]] std::string store() const { return "lmdb:" + directory_ / "store"; }

  TemporaryDirectory directory_;
};

}  // namespace keysieve::test
