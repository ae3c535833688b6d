#include "tests/tools/cli/keysieve_program.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/forked.hpp"

namespace keysieve::test {
namespace {

constexpr std::string_view kOwnName = "keysieve: ";

std::string joined(const Words& words) {
  std::string line;
  for (const std::string& word : words) line.append(" ").append(word.substr(0, 100));
  return line;
}

}  // namespace

Words words_of(const std::string& line) {
  Words words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

KeysieveProgram::KeysieveProgram() {
  std::filesystem::create_directory(shared_memory());
}

ProgramCall KeysieveProgram::call_of(Words arguments, std::string input) const {
  return {.program = KEYSIEVE_PROGRAM,
          .arguments = std::move(arguments),
          .environment = {"TERM=dumb", "KEYSIEVE_DIRECTORY=" + shared_memory(), "KEYSIEVE_REDIS_PASSWORD="},
          .input = std::move(input)};
}

ProgramResult KeysieveProgram::keysieve(Words arguments, std::string input) const {
  return run_program(call_of(std::move(arguments), std::move(input)));
}

ProgramResult KeysieveProgram::keysieve_typing(const std::string& typed, Words arguments) const {
  ProgramCall call = call_of(std::move(arguments));
  call.typed = typed;
  return run_program(call);
}

ProgramResult KeysieveProgram::keysieve_as_nobody(Words arguments) const {
  ProgramCall call = call_of(std::move(arguments));
  if (is_root()) call.user = kNobody;
  permit(directory_.path(), 0755);
  return run_program(call);
}

std::string KeysieveProgram::said(Words arguments, const std::string& input) const {
  const ProgramResult result = keysieve(arguments, input);
  EXPECT_EQ(result.exit_status, 0) << joined(arguments);
  EXPECT_EQ(result.errors, "") << joined(arguments);
  return result.output;
}

Words KeysieveProgram::verbs() const {
  const std::string help = said({"--help"});
  Words verbs;
  std::istringstream lines(help.substr(help.find("\nSubcommands:\n") + 1));
  for (std::string line; std::getline(lines, line) && !line.empty();)
    if (line.starts_with("  ")) verbs.push_back(words_of(line).front());
  return verbs;
}

Json KeysieveProgram::json(Words arguments) const {
  arguments.insert(arguments.begin() + 1, "--json");
  const Json parsed = Json::parse(said(arguments), nullptr, false);
  EXPECT_TRUE(parsed.is_object()) << joined(arguments);
  return parsed;
}

std::string KeysieveProgram::refusal(int exit_status, Words arguments, const std::string& input) const {
  const ProgramResult result = keysieve(arguments, input);
  EXPECT_EQ(result.exit_status, exit_status) << joined(arguments) << "\n" << result.errors;
  EXPECT_EQ(result.output, "") << joined(arguments);
  const auto options_end = std::find(arguments.begin(), arguments.end(), "--");
  if (std::find(arguments.begin(), options_end, "--json") != options_end) {
    const Json error = Json::parse(result.errors, nullptr, false);
    EXPECT_TRUE(error.is_object()) << result.errors;
    return error.is_object() ? error.value("error", "") : "";
  }
  EXPECT_TRUE(result.errors.starts_with(kOwnName)) << joined(arguments) << "\n" << result.errors;
  EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
  if (result.errors.size() <= kOwnName.size()) return "";
  return result.errors.substr(kOwnName.size(), result.errors.size() - kOwnName.size() - 1);
}

void KeysieveProgram::expect_refusals(int exit_status, const std::vector<Refused>& all,
                                      const std::string& input) const {
  for (const auto& [command, reason] : all) {
    EXPECT_THAT(refusal(exit_status, words_of(command), input), HasSubstr(reason)) << command;
  }
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

std::string KeysieveProgram::build(const std::string& name, const std::string& key_text, const Words& options,
                                   const std::string& set_name) const {
  const std::string snapshot = path(name + ".ks");
  const Words arguments =
      Words{"build", "--set", set_name, "-o", snapshot, write(name + ".txt", key_text)} + options;
  const ProgramResult built = keysieve(arguments);
  EXPECT_EQ(built.exit_status, 0) << joined(arguments) << "\n" << built.errors;
  EXPECT_THAT(built.errors, ::testing::AnyOf(IsEmpty(), EndsWith(" --max-shrink compares with nothing\n")));
  return snapshot;
}

Json KeysieveProgram::pull(const std::string& url, const std::string& set_name) const {
  return json({"pull", url, set_name, "-o", path("pulled.ks")});
}

Json KeysieveProgram::status_of_set() const {
  const Json sets = json({"status"}).at("sets");
  EXPECT_EQ(sets.size(), 1U);
  return sets.at(0);
}

Words KeysieveProgram::names_in(const std::string& folder) {
  Words names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void KeysieveProgram::permit(const std::string& path, unsigned mode) {
  std::filesystem::permissions(path, std::filesystem::perms(mode));
}

std::string KeysieveProgram::answer(const std::string& key, const std::string& set_name) const {
  const ProgramResult result = keysieve({"query", set_name, "--", key});
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(result.exit_status, result.output == "maybe\n" ? 0 : 1) << result.output;
  return result.output.substr(0, result.output.find('\n'));
}

void damage(const std::string& path, std::size_t offset) {
  std::filesystem::permissions(path, std::filesystem::perms::owner_write, std::filesystem::perm_options::add);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const int byte = file.seekg(static_cast<std::streamoff>(offset)).get();
  file.seekp(static_cast<std::streamoff>(offset)).put(static_cast<char>(byte ^ 1));
}

}  // namespace keysieve::test
