// The program keysieve: verbs in the order of the data's way.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>

#include "tools/cli/report.hpp"
#include "tools/cli/verbs.hpp"
#include "tools/program/program.hpp"

namespace keysieve {
namespace {

constexpr std::array kVerbs{add_plan,     add_build,  add_inspect, add_verify, add_push,   add_pull,
                            add_add,      add_update, add_publish, add_query,  add_status, add_bypass,
                            add_rollback, add_gc,     add_seed,    add_doctor};

constexpr const char* kDescription =
    "keysieve: whether a key may be in a set, answered from shared memory.\n"
    "keys --build--> snapshot --push--> store --keysieved--> shared memory --> PHP";

constexpr const char* kFooter =
    "\n`keysieve VERB --help` shows options and examples.\n"
    "Exit status: 0; of sysexits: 64 usage, 65 wrong data or a guard, 66 input missing, 69 store "
    "unreachable,\n"
    "73 cannot create, 75 locked, 77 permission. query: 0 maybe, 1 absent, 2 error; doctor: 1 it has "
    "found an error.";

void complain(const std::string& message) {
  fmt::print(stderr, "keysieve: {}\n", message);
}

std::string what_is_wrong(const CLI::App& program, const CLI::ParseError& error) {
  const auto verbs = program.get_subcommands();
  if (!verbs.empty())
    return fmt::format("{}; see keysieve {} --help", error.what(), verbs.front()->get_name());
  const auto words = program.remaining();
  return fmt::format("\"{}\" is not a verb; see keysieve --help", words.empty() ? "" : words.front());
}

// Returns the exit status.
int run(int argc, char** argv, Outcome& outcome) {
  CLI::App program(kDescription, "keysieve");
  program.footer(kFooter);
  program.set_version_flag("--version", "keysieve " + std::string(kVersion));
  program.require_subcommand(1);
  for (const auto add : kVerbs) add(program, outcome);
  if (argc < 2) {
    fmt::print(stderr, "{}", program.help());
    return exit_status_of(ErrorKind::Usage);
  }
  try {
    program.parse(argc, argv);
    flush_output();
    return outcome.exit_status;
  } catch (const CLI::CallForHelp& help) {
    return program.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return program.exit(version);
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::Usage, what_is_wrong(program, error));
  }
}

}  // namespace
}  // namespace keysieve

int main(int argc, char** argv) {
  using namespace keysieve;
  Outcome outcome;
  try {
    return run(argc, argv, outcome);
  } catch (const Error& error) {
    complain(error.what());
    return outcome.error_status.value_or(exit_status_of(error.kind()));
  } catch (const std::exception& error) {
    complain(error.what());
    // The library that prints throws when the system takes no more.
    const int status = std::ferror(stdout) != 0 ? exit_status_of(ErrorKind::CannotCreate) : kExitInternal;
    return outcome.error_status.value_or(status);
  }
}
