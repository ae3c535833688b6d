#include "tests/tools/cli/keysieve_program.hpp"

#include <filesystem>
#include <fstream>

namespace keysieve::test {
namespace {

std::string joined(const Words& words) {
  std::string line;
  for (const std::string& word : words) line.append(" ").append(word.substr(0, 100));
  return line;
}

}  // namespace

KeysieveProgram::KeysieveProgram() {
  std::filesystem::create_directory(shared_memory());
}

ProgramCall KeysieveProgram::call_of(Words arguments) const {
  return {.program = KEYSIEVE_PROGRAM,
          .arguments = std::move(arguments),
          .environment = {"TERM=dumb", "KEYSIEVE_DIRECTORY=" + shared_memory(), "KEYSIEVE_REDIS_PASSWORD="}};
}

std::string KeysieveProgram::said(Words arguments) const {
  const ProgramResult result = keysieve(arguments);
  EXPECT_EQ(result.exit_status, 0) << joined(arguments);
  EXPECT_EQ(result.errors, "") << joined(arguments);
  return result.output;
}

std::string KeysieveProgram::numbered_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "w" + std::to_string(i) + "\n";
  return text;
}

std::string KeysieveProgram::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
  return path(name);
}

std::string KeysieveProgram::read(const std::string& path) const {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace keysieve::test
