// The program keysieve as its users run it, with shared memory, files and a store in a temporary directory.
// Every suite of the command line starts from this.
#pragma once

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/run_program.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {

using Words = std::vector<std::string>;
using Json = nlohmann::json;

constexpr uid_t kNobody = 65534;

class KeysieveProgram : public ::testing::Test {
 protected:
  KeysieveProgram();

  // Runs it with KEYSIEVE_DIRECTORY naming shared_memory(), and no password in the environment.
  [[nodiscard]] ProgramResult keysieve(Words arguments, std::string input = "") const;
  // The call that keysieve() makes, to be changed.
  [[nodiscard]] ProgramCall call_of(Words arguments, std::string input = "") const;
  // Runs it, expects success and nothing on standard error; returns what it prints.
  [[nodiscard]] std::string said(Words arguments, const std::string& input = "") const;
  // The same with --json, parsed.
  [[nodiscard]] Json json(Words arguments) const;
  // Runs it, expects this exit status, nothing on standard output, and one line on standard error; returns
  // that line without the program's name.
  [[nodiscard]] std::string refusal(int exit_status, Words arguments, const std::string& input = "") const;

  // "w0" to "w<count - 1>", a line each.
  static std::string numbered_lines(int count);
  // Writes a file; returns its path.
  std::string write(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string read(const std::string& path) const;

  // Builds a snapshot of these keys into <name>.ks, by default of the set "tags"; returns its path.
  std::string build(const std::string& name, const std::string& key_text, Words options = {},
                    const std::string& set_name = "tags") const;

  [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name; }
  [[nodiscard]] std::string shared_memory() const { return directory_ / "shm"; }
  // A store that is made when it is first written to.
  [[nodiscard]] std::string store() const { return "lmdb:" + directory_ / "store"; }
  // Names in a folder, sorted.
  static Words names_in(const std::string& folder);
  // The word that query says for the key in shared memory: maybe or absent.
  [[nodiscard]] std::string answer(const std::string& key, const std::string& set_name = "tags") const;

  TemporaryDirectory directory_;
};

// Changes one bit in a file.
void damage(const std::string& path, std::size_t offset);

}  // namespace keysieve::test
