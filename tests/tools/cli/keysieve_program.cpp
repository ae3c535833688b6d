#include "tests/tools/cli/keysieve_program.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace keysieve::test {
namespace {

constexpr std::string_view kOwnName = "keysieve: ";

std::string joined(const Words& words) {
  std::string line;
  for (const std::string& word : words) line.append(" ").append(word.substr(0, 100));
  return line;
}

}  // namespace

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

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

Words KeysieveProgram::verbs() const {
  const std::string help = said({"--help"});
  Words verbs;
  std::istringstream lines(help.substr(help.find("\nSubcommands:\n") + 1));
  for (std::string line; std::getline(lines, line) && !line.empty();)
    if (line.starts_with("  ")) verbs.push_back(line.substr(2, line.find(' ', 2) - 2));
  return verbs;
}

std::string KeysieveProgram::refusal(int exit_status, Words arguments) const {
  const ProgramResult result = keysieve(arguments);
  EXPECT_EQ(result.exit_status, exit_status) << joined(arguments) << "\n" << result.errors;
  EXPECT_EQ(result.output, "") << joined(arguments);
  EXPECT_TRUE(result.errors.starts_with(kOwnName)) << joined(arguments) << "\n" << result.errors;
  if (result.errors.size() <= kOwnName.size()) return "";
  return result.errors.substr(kOwnName.size(), result.errors.size() - kOwnName.size() - 1);
}

std::string KeysieveProgram::numbered_lines(int count, const std::string& prefix) {
  std::string text;
  for (int i = 0; i < count; ++i) text.append(prefix).append(std::to_string(i)).append("\n");
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

Words KeysieveProgram::names_in(const std::string& folder) {
  Words names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace keysieve::test
