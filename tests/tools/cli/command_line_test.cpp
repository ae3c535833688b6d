#include <algorithm>
#include <set>
#include <sstream>

#include "core/worker/base/version.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

using ::testing::Contains;

using CommandLine = KeysieveProgram;

Words lines_of(const std::string& text) {
  Words lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
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
  for (const char* word : {"--version", "-V", "version"}) {
    EXPECT_EQ(said({word}), "keysieve " KEYSIEVE_VERSION "\n") << word;
  }
}

TEST_F(CommandLine, ShowsHelpByTheWordHelpToo) {
  const std::string help = said({"--help"});
  EXPECT_EQ(said({"help"}), help);
  EXPECT_EQ(said({"help", "help"}), help);
  EXPECT_EQ(said({"help", "push"}), said({"push", "--help"}));
}

TEST_F(CommandLine, SuggestsTheVerbOrOptionThatWasMeant) {
  const auto verb = [](const std::string& word, const std::string& meant) {
    return "\"" + word + "\" is not a verb; did you mean " + meant + "?";
  };
  expect_refusals(64, {{"puplish tags.ks", verb("puplish", "publish")},
                       {"psuh --help", verb("psuh", "push")},
                       {"help psuh", verb("psuh", "push")},
                       {"stat", verb("stat", "status")},
                       {"status --jsn", "\"--jsn\" is not an option of status; did you mean --json?"},
                       {"build --sett=tags", "\"--sett\" is not an option of build; did you mean --set?"},
                       {"--hlep", "did you mean --help?"}});
}

TEST_F(CommandLine, ShowsItsHelpWhenNothingIsAsked) {
  const ProgramResult result = keysieve({});
  EXPECT_EQ(result.exit_status, 64);
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(result.errors, said({"--help"}));
}

TEST_F(CommandLine, EndsTheHelpOfEveryVerbWithExamplesOfItsOwnOptions) {
  ASSERT_THAT(verbs(), Contains("doctor")) << "the last one";
  for (const std::string& verb : verbs()) {
    const std::string help = said({verb, "--help"});
    EXPECT_EQ(said({verb, "-h"}), help);
    const auto options = options_in(help);
    EXPECT_THAT(options, Contains("--json")) << verb;
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

TEST_F(CommandLine, SaysErrorsAsJsonWhereJsonIsAskedFor) {
  const auto said_error = [this](const Words& words) {
    const ProgramResult result = keysieve(words);
    EXPECT_EQ(result.output, "");
    const Json error = Json::parse(result.errors, nullptr, false);
    EXPECT_EQ(error.value("exit_status", 0), result.exit_status);
    return error;
  };
  EXPECT_EQ(said_error({"status", "tags", "--json"}),
            Json({{"error", "directory " + shared_memory() + ": no set \"tags\" is published here"},
                  {"code", "missing"},
                  {"exit_status", 66}}));
  EXPECT_THAT(said_error({"query", "tags", "a", "--json"}), has({{"code", "missing"}, {"exit_status", 2}}));
  EXPECT_THAT(said_error({"status", "--jsn", "--json"}), has({{"code", "usage"}, {"exit_status", 64}}));
  EXPECT_THAT(refusal(2, {"query", "tags", "--", "--json"}), StartsWith("directory ")) << "that is a key";
}

TEST_F(CommandLine, SaysWarningsAsJsonWhereJsonIsAskedFor) {
  push(build("tags", "a\n"));
  const ProgramResult result = keysieve({"add", "shop", "a", "--allow-unknown-set", "--json", store()});
  EXPECT_THAT(Json::parse(result.errors, nullptr, false).value("warning", ""), HasSubstr("there is no set"));
}

TEST_F(CommandLine, ColoursErrorsOnlyOnATerminalThatShowsColours) {
  const auto errors_with = [this](const std::string& variable, bool on_terminal) {
    ProgramCall call = call_of({"status", "tags"});
    call.environment = {"TERM=xterm", "NO_COLOR=", "KEYSIEVE_DIRECTORY=" + shared_memory()};
    for (std::string& known : call.environment) {
      if (known.substr(0, known.find('=')) == variable.substr(0, variable.find('='))) known = variable;
    }
    call.errors_on_terminal = on_terminal;
    return run_program(call).errors;
  };
  const std::string colour = "\033[31mkeysieve\033[0m: ";
  EXPECT_THAT(errors_with("TERM=xterm", true), StartsWith(colour));
  EXPECT_THAT(errors_with("TERM=xterm", false), StartsWith("keysieve: "));
  EXPECT_THAT(errors_with("TERM=dumb", true), StartsWith("keysieve: "));
  EXPECT_THAT(errors_with("NO_COLOR=1", true), StartsWith("keysieve: "));
}

TEST_F(CommandLine, SaysInTheHelpOfAddWhenToAdd) {
  EXPECT_THAT(said({"add", "--help"}), HasSubstr("Add, then commit"));
}

TEST_F(CommandLine, NamesWhatIsUnknownMissingOrWrong) {
  expect_refusals(64, {
                          {"remove tags", "\"remove\" is not a verb; see keysieve --help"},
                          {"redis://app:s3cret@h", "\"redis:...\" is not a verb"},
                          {"--force", "\"--force\" is not an option of keysieve itself"},
                          {"--json status", "\"--json\" is not an option of keysieve itself"},
                          {"--", "a verb is missing"},
                          {"status --force", "\"--force\" is not an option of status; see keysieve status"},
                          {"inspect a.ks b.ks", "\"b.ks\" is one argument too many; see keysieve inspect"},
                          {"seed lmdb:/a redis://app:s3cret@h", "\"redis:...\" is one argument too many"},
                          {"inspect", "FILE"},
                          {"build --set tags tags.txt", "--output"},
                          {"build tags.txt -o tags.ks", "--set"},
                          {"build --set tags -o tags.ks", "KEYFILE"},
                          {"build --fpr", "--fpr"},
                          {"verify tags.ks", "--keys"},
                          {"push tags.ks", "URL is required"},
                          {"push " + store(), "FILE is required"},
                          {"pull -o tags.ks " + store(), "SET is required"},
                          {"pull -o tags.ks tags", "URL is required"},
                          {"pull " + store() + " tags", "--output is required"},
                          {"add tags", "KEY"},
                          {"add tags " + store(), "give keys to add"},
                          {"add tags 猫", "the last argument is the store's URL, "},
                          {"publish --max-total-size much tags.ks", "--max-total-size: \"much\""},
                          {"publish --max-total-size", "--max-total-size"},
                          {"rollback tags --to two " + store(), "--to: \"two\""},
                          {"plan", "--keys"},
                          {"plan --keys 0", "--keys: 0 is too few: at least 1"},
                          {"plan --keys 9223372036854775807", "1048576 shards"},
                          {"plan --keys 9 --fpr nan", "--fpr: "},
                          {"plan --keys 9 --fpr 0.6", "1e-9 to 0.5"},
                          {"plan --keys 9 --growth much", "--growth"},
                          {"plan --keys 9 --growth nan", "1 to 100"},
                          {"plan --keys 9 --known-absent many", "--known-absent: \"many\""},
                      });
}

TEST_F(CommandLine, PrefersTheOptionToTheDirectoryInTheEnvironment) {
  EXPECT_THAT(keysieve({"status"}).output, HasSubstr(shared_memory() + ": no set is published here"));
  EXPECT_THAT(keysieve({"status", "--directory", directory_.path()}).output,
              HasSubstr("\n" + directory_.path() + ": 0 B in files"));
}

constexpr const char* kWipeLine = "\r\x1b[K";

class ProgressOnTerminal : public KeysieveProgram {
 protected:
  [[nodiscard]] ProgramResult on_terminal(Words arguments) const {
    ProgramCall call = call_of(std::move(arguments));
    call.errors_on_terminal = true;
    return run_program(call);
  }

  const std::string keys_ = write("keys.txt", numbered_lines(20'000));
  // In one thread: a second might read so short a list before the first, which shows progress.
  const Words build_{"build", "--set", "tags", keys_, "-o", path("tags.ks"), "--threads", "1"};
};

TEST_F(ProgressOnTerminal, IsShownOnlyOnATerminalAndWiped) {
  const std::string reading = "reading " + keys_ + ": 4,096 keys";
  const std::vector<std::pair<Words, Words>> calls{
      {build_, {reading, "building tags: 20,000 keys"}},
      {{"verify", path("tags.ks"), "--keys", keys_}, {"asking for " + keys_ + ": 4,096 keys"}},
      {{"push", path("tags.ks"), store()}, {"pushing to " + store() + ": ", " %)"}},
      {{"pull", store(), "tags", "-o", path("pulled.ks")}, {"pulling from " + store() + ": ", " %)"}},
  };
  for (const auto& [call, shown] : calls) {
    const ProgramResult result = on_terminal(call);
    EXPECT_EQ(result.exit_status, 0);
    for (const std::string& text : shown) EXPECT_THAT(result.errors, HasSubstr(text));
    EXPECT_THAT(result.errors, EndsWith(kWipeLine));
    run(call);  // not on a terminal: nothing on standard error
  }
}

TEST_F(ProgressOnTerminal, GivesWayToAnError) {
  write("keys.txt", numbered_lines(20'000) + "a\r\n");
  const ProgramResult result = on_terminal(build_);
  EXPECT_EQ(result.exit_status, 65);
  EXPECT_THAT(result.errors, HasSubstr(kWipeLine + ("keysieve: " + keys_) + ": line 20001 ends in a CR"));
}

}  // namespace
}  // namespace keysieve::test
