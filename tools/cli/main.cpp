// The program keysieve: verbs in the order of the data's way.
#include <fmt/format.h>

#include <array>
#include <exception>

#include "tools/cli/verbs.hpp"
#include "tools/program/program.hpp"

namespace keysieve {
namespace {

constexpr std::array kVerbs{add_plan, add_build,   add_inspect, add_verify, add_push,
                            add_pull, add_publish, add_query,   add_status, add_bypass};

constexpr const char* kDescription =
    "keysieve: whether a key may be in a set, answered from shared memory.\n"
    "keys --build--> snapshot --push--> store --keysieved--> shared memory --> PHP";

constexpr const char* kFooter =
    "\n`keysieve VERB --help` shows options and examples.\n"
    "Exit status: 0; of sysexits: 64 usage, 65 wrong data or a guard, 66 input missing, 69 store "
    "unreachable,\n"
    "73 cannot create, 75 locked, 77 permission. query: 0 maybe, 1 absent, 2 error.";

int run(int argc, char** argv) {
  Outcome outcome;
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
  } catch (const CLI::CallForHelp& help) {
    return program.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return program.exit(version);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "keysieve: {}\nkeysieve --help shows what there is\n", error.what());
    return exit_status_of(ErrorKind::Usage);
  }
  return outcome.exit_status;
}

}  // namespace
}  // namespace keysieve

int main(int argc, char** argv) {
  using namespace keysieve;
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    fmt::print(stderr, "keysieve: {}\n", error.what());
    return exit_status_of(error.kind());
  } catch (const std::exception& error) {
    fmt::print(stderr, "keysieve: {}\n", error.what());
    return kExitInternal;
  }
}
