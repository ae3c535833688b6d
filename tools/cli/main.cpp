// The program keysieve: verbs in the order of the data's way.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "tools/cli/verb.hpp"
#include "tools/program/nearest_name.hpp"
#include "tools/program/program.hpp"

namespace keysieve {

extern const Verb kPlan, kBuild, kInspect, kVerify, kPush, kPull, kAdd, kPublish, kQuery, kStatus, kBypass,
    kRollback, kList, kDelete, kSeed, kKeygen, kDoctor;

namespace {

constexpr std::array kVerbs{&kPlan, &kBuild,   &kInspect, &kVerify, &kPush,   &kPull,
                            &kAdd,  &kPublish, &kQuery,   &kStatus, &kBypass, &kRollback,
                            &kList, &kDelete,  &kSeed,    &kKeygen, &kDoctor};

constexpr const char* kDescription =
    "keysieve: whether a key may be in a set, answered from shared memory.\n"
    "keys --build--> snapshot --push--> store --keysieved--> shared memory --> PHP";

constexpr const char* kFooter =
    "\n`keysieve VERB --help` or `keysieve help VERB` shows options and examples.\n"
    "Exit status: 0; of sysexits: 64 usage, 65 wrong data or a guard, 66 input missing, 69 store "
    "unreachable,\n"
    "70 internal, 71 no memory, 73 cannot create, 75 locked, 77 permission, 78 configuration.\n"
    "query: 0 maybe, 1 absent, 2 error. status, doctor: 1 when something is wrong. rollback, delete: 1 when\n"
    "you say no.";

using Words = std::vector<std::string>;

// Before anything is parsed, so that a usage error is an object too. Behind "--" it is a key.
bool asks_for_json(int argc, char** argv) {
  const Words words(argv, argv + argc);
  const auto end = std::ranges::find(words, "--");
  return std::find(words.begin(), end, "--json") != end;
}

// `help`, `help VERB` and `version` are options by another name.
Words with_options_for_verbs(Words words) {
  const bool asks_for_help = !words.empty() && words.front() == "help";
  if (asks_for_help) words.erase(words.begin());
  if (!words.empty() && words.front() == "help") words.clear();
  if (!words.empty() && words.front() == "version") words = {"--version"};
  if (asks_for_help) words.emplace_back("--help");
  return words;
}

// A URL may hold a password.
std::string shown(const std::string& word) {
  return is_store_url(word) ? word.substr(0, word.find(':')) + ":..." : word;
}

[[noreturn]] void refuse_unknown(const std::string& word, const std::string& what, const Words& known,
                                 const std::string& help) {
  const auto nearest = nearest_name(word, known);
  throw Error(ErrorKind::Usage, fmt::format("\"{}\" is not {}; {}", shown(word), what,
                                            nearest ? "did you mean " + *nearest + "?" : "see " + help));
}

// Before anything else is read: no --help may hide a wrong verb. nullptr: the word is an option of keysieve.
const Verb* verb_named(const std::string& word) {
  if (word.starts_with('-')) return nullptr;
  Words names;
  for (const Verb* verb : kVerbs) {
    if (verb->name == word) return verb;
    names.emplace_back(verb->name);
  }
  refuse_unknown(word, "a verb", names, "keysieve --help");
}

Words option_names(const CLI::App& app) {
  Words names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The first option among these words, without the value after its equals sign; empty if there is none.
std::string option_among(const Words& words) {
  for (const std::string& word : words) {
    if (word.starts_with('-') && word != "-" && word != "--") return word.substr(0, word.find('='));
  }
  return "";
}

// An unknown option comes first: what else is wrong may only follow from it.
[[noreturn]] void refuse(const CLI::App& program, const CLI::ParseError& error) {
  if (const std::string option = option_among(program.remaining()); !option.empty()) {
    refuse_unknown(option, "an option of keysieve itself; options of a verb follow the verb",
                   option_names(program), "keysieve --help");
  }
  const auto verbs = program.get_subcommands();
  if (verbs.empty()) throw Error(ErrorKind::Usage, "a verb is missing; see keysieve --help");
  const CLI::App& verb = *verbs.front();
  const std::string help = fmt::format("keysieve {} --help", verb.get_name());
  const Words rest = verb.remaining();
  if (const std::string option = option_among(rest); !option.empty()) {
    refuse_unknown(option, "an option of " + verb.get_name(), option_names(verb), help);
  }
  if (!rest.empty()) {
    throw Error(ErrorKind::Usage,
                fmt::format("\"{}\" is one argument too many; see {}", shown(rest.front()), help));
  }
  throw Error(ErrorKind::Usage, fmt::format("{}; see {}", error.what(), help));
}

void add_verb(CLI::App& program, const Verb& verb, int& exit_status) {
  CLI::App* added = program.add_subcommand(verb.name, verb.description);
  added->add_flag_callback("--json", say_as_json, "Print JSON instead of text");
  added->footer(std::string("\nExamples:\n") + verb.examples);
  verb.prepare(added, exit_status);
}

// Returns the exit status. `error_status` is that of any error from then on; 0: as exit_status_of() says.
int run(int argc, char** argv, int& error_status) {
  CLI::App program(kDescription, "keysieve");
  program.footer(kFooter);
  program.set_version_flag("-V,--version", "keysieve " + std::string(kVersion));
  program.require_subcommand(1);
  int exit_status = 0;
  for (const Verb* verb : kVerbs) add_verb(program, *verb, exit_status);
  Words words = with_options_for_verbs({argv + std::min(argc, 1), argv + argc});
  if (words.empty()) {
    fmt::print(stderr, "{}", program.help());
    return exit_status_of(ErrorKind::Usage);
  }
  try {
    if (const Verb* verb = verb_named(words.front())) error_status = verb->error_status;
    std::reverse(words.begin(), words.end());  // as the library wants it
    program.parse(std::move(words));
    flush_output();
    return exit_status;
  } catch (const CLI::CallForHelp& help) {
    return program.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return program.exit(version);
  } catch (const CLI::ParseError& error) {
    refuse(program, error);
  }
}

// What ends a verb, as a line and an exit status. Throws when memory runs out for that.
int run_and_report(int argc, char** argv, int& error_status) {
  const auto fail = [&error_status](std::string_view message, std::string_view code, int status) {
    const int exit_status = error_status != 0 ? error_status : status;
    print_error(std::string(message), code, exit_status);
    return exit_status;
  };
  try {
    if (asks_for_json(argc, argv)) say_as_json();
    return run(argc, argv, error_status);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const Error& error) {
    return fail(error.what(), to_string(error.kind()), exit_status_of(error.kind()));
  } catch (const std::exception& error) {
    // The library that prints throws when the system takes no more.
    end_if_reader_is_gone(error);
    constexpr ErrorKind kKind = ErrorKind::CannotCreate;
    if (std::ferror(stdout) != 0) return fail(error.what(), to_string(kKind), exit_status_of(kKind));
    return fail(error.what(), "internal", exit_status_of(error));
  }
}

}  // namespace
}  // namespace keysieve

int main(int argc, char** argv) {
  using namespace keysieve;
  begin_program("keysieve");
  int error_status = 0;
  try {
    return run_and_report(argc, argv, error_status);
  } catch (const std::exception& error) {
    const int exit_status = error_status != 0 ? error_status : exit_status_of(error);
    end_if_reader_is_gone(error);  // of stderr
    // Else stderr takes no more.
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) print_no_memory(exit_status);
    return exit_status;
  }
}
