#include <algorithm>
#include <set>
#include <sstream>

#include "core/base/version.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using CommandLine = KeysieveProgram;

const Words kVerbs{"plan",    "build", "inspect", "verify", "push",     "pull", "add",  "update",
                   "publish", "query", "status",  "bypass", "rollback", "gc",   "seed", "doctor"};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Words words_of(const std::string& line) {
  Words words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// The names in lines such as "  -o,--output FILE.ks REQUIRED".
std::set<std::string> options_in(const std::string& help) {
  std::set<std::string> names;
  for (const std::string& line : lines_of(help.substr(0, help.find("Examples:")))) {
    if (!line.starts_with("  -")) continue;
    std::istringstream alternatives(words_of(line).front());
    for (std::string name; std::getline(alternatives, name, ',');) names.insert(name);
  }
  return names;
}

// The words after "keysieve" of each example, to the end of its part of a pipe.
std::vector<Words> examples_in(const std::string& help) {
  std::vector<Words> examples;
  for (const std::string& line : lines_of(help.substr(help.find("Examples:")))) {
    if (!line.starts_with("  ")) continue;
    Words words = words_of(line);
    if (words.front() == "sudo") words.erase(words.begin(), words.begin() + 3);  // "-u keysieve"
    words.erase(words.begin(), std::find(words.begin(), words.end(), "keysieve"));
    words.erase(
        std::find_if(words.begin(), words.end(), [](const auto& word) { return word == "|" || word == "<"; }),
        words.end());
    examples.push_back(words);
  }
  return examples;
}

TEST_F(CommandLine, PrintsItsVersion) {
  EXPECT_EQ(said({"--version"}), "keysieve " KEYSIEVE_VERSION "\n");
}

TEST_F(CommandLine, ListsEveryVerbInItsHelp) {
  const std::string help = said({"--help"});
  for (const std::string& verb : kVerbs) EXPECT_THAT(help, HasSubstr("\n  " + verb + " "));
}

TEST_F(CommandLine, ShowsItsHelpWhenNothingIsAsked) {
  const ProgramResult result = keysieve({});
  EXPECT_EQ(result.exit_status, 64);
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(result.errors, said({"--help"}));
}

TEST_F(CommandLine, EndsTheHelpOfEveryVerbWithExamples) {
  for (const std::string& verb : kVerbs) {
    for (const char* option : {"--help", "-h"}) {
      EXPECT_THAT(said({verb, option}), HasSubstr("\nExamples:\n  ")) << verb;
    }
  }
}

TEST_F(CommandLine, HasTheVerbsAndOptionsOfItsExamples) {
  for (const std::string& verb : kVerbs) {
    const std::string help = said({verb, "--help"});
    const auto options = options_in(help);
    const auto examples = examples_in(help);
    EXPECT_FALSE(examples.empty()) << verb;
    for (const Words& example : examples) {
      ASSERT_GE(example.size(), 2U) << verb;
      EXPECT_EQ(example[1], verb);
      for (const std::string& word : example) {
        if (word.size() == 1 || !word.starts_with("-")) continue;
        EXPECT_THAT(options, Contains(word)) << verb;
      }
    }
  }
}

TEST_F(CommandLine, TakesTheOptionJsonWithEveryVerb) {
  for (const std::string& verb : kVerbs) {
    EXPECT_THAT(options_in(said({verb, "--help"})), Contains("--json")) << verb;
  }
}

TEST_F(CommandLine, RefusesWhatItDoesNotKnowAndNamesIt) {
  EXPECT_THAT(refusal(64, {"puplish", "tags.ks"}), HasSubstr("\"puplish\" is not a verb"));
  EXPECT_THAT(refusal(64, {"--jsn"}), HasSubstr("--jsn"));
  EXPECT_THAT(refusal(64, {"status", "--jsn"}),
              AllOf(HasSubstr("--jsn"), EndsWith("see keysieve status --help")));
  EXPECT_THAT(refusal(64, {"inspect", "a.ks", "b.ks"}), HasSubstr("b.ks"));
}

TEST_F(CommandLine, NamesWhatIsMissing) {
  EXPECT_THAT(refusal(64, {"inspect"}), HasSubstr("FILE"));
  EXPECT_THAT(refusal(64, {"build", "--set", "tags", "tags.txt"}), HasSubstr("--output"));
  EXPECT_THAT(refusal(64, {"build", "tags.txt", "-o", "tags.ks"}), HasSubstr("--set"));
  EXPECT_THAT(refusal(64, {"build", "--set", "tags", "-o", "tags.ks"}), HasSubstr("KEYFILE"));
  EXPECT_THAT(refusal(64, {"plan"}), HasSubstr("--keys"));
  EXPECT_THAT(refusal(64, {"push", "tags.ks"}), HasSubstr("URL"));
  EXPECT_THAT(refusal(64, {"pull", store()}), HasSubstr("SET"));
  EXPECT_THAT(refusal(64, {"verify", "tags.ks"}), HasSubstr("--keys"));
  EXPECT_THAT(refusal(64, {"build", "--fpr"}), HasSubstr("--fpr"));
}

TEST_F(CommandLine, NamesTheOptionOfAWrongValue) {
  EXPECT_THAT(refusal(64, {"plan", "--keys", "-5"}), AllOf(StartsWith("--keys: "), HasSubstr("\"-5\"")));
  EXPECT_THAT(refusal(64, {"plan", "--keys", "9", "--fpr", "nan"}), StartsWith("--fpr: "));
  EXPECT_THAT(refusal(64, {"plan", "--keys", "9", "--growth", "much"}), HasSubstr("--growth"));
}

TEST_F(CommandLine, CountsOutputThatCannotBeWrittenAsAnError) {
  const std::string snapshot = build("tags", numbered_lines(10));
  for (const Words& arguments :
       {Words{"inspect", snapshot}, Words{"plan", "--keys", "9"}, Words{"status", "--json"},
        Words{"verify", snapshot, "--keys", path("tags.txt")}}) {
    ProgramCall call = call_of(arguments);
    call.output_to = "/dev/full";
    const ProgramResult result = run_program(call);
    EXPECT_EQ(result.exit_status, 73) << arguments[0];
    EXPECT_THAT(result.errors, HasSubstr("No space left on device")) << arguments[0];
  }
}

TEST_F(CommandLine, TakesTheDirectoryFromTheEnvironmentAndRatherFromTheOption) {
  EXPECT_THAT(said({"status"}), HasSubstr(shared_memory() + ": no set is published here"));
  EXPECT_THAT(said({"status", "--directory", directory_.path()}),
              HasSubstr("\n" + directory_.path() + ": 0 B in files"));
  EXPECT_THAT(refusal(66, {"status", "--directory", path("none")}), HasSubstr(path("none")));
}

}  // namespace
}  // namespace keysieve::test
