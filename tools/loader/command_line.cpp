#include "tools/loader/command_line.hpp"

#include <CLI/CLI.hpp>

#include "tools/program/program.hpp"

namespace keysieve {
namespace {

constexpr const char* kDescription =
    "keysieved keeps the sets in shared memory equal to what their stores call current.";

constexpr const char* kFooter = R"(Examples:
  keysieved                                     run, with /etc/keysieve/keysieve.toml
  keysieved --config keysieve.toml --once       refresh every set once, for cron or a container's start
  keysieved --check-config && systemctl reload keysieved

Signals: SIGHUP reloads the configuration (a wrong one is refused and the old one stays in force), SIGUSR1
refreshes all sets now, SIGTERM and SIGINT stop. What is published stays live when keysieved stops.

Exit status: 0; of sysexits: 64 usage, 65 a store's data or a guard, 66 nothing pushed yet or no such directory,
69 store unreachable, 71 no memory, 73 cannot create, 75 locked, 77 permission, 78 configuration. --once: 0 when every
set is live and equal to its store, else the highest that any set met.)";

}  // namespace

LoaderCommandLine parse_command_line(int argc, const char* const* argv) {
  LoaderCommandLine line;
  CLI::App app(kDescription, "keysieved");
  app.footer(kFooter);
  app.set_version_flag("-V,--version", "keysieved " + std::string(kVersion));
  app.add_option("--config", line.config_path, "Configuration file; conf.d/*.toml next to it is included")
      ->type_name("FILE")
      ->capture_default_str();
  auto* once = app.add_flag("--once", line.once, "Refresh every set once, then end");
  auto* check =
      app.add_flag("--check-config", line.check_config,
                   "Print what the configuration says, then end; keysieve doctor asks the stores too")
          ->excludes(once);
  app.add_flag("--json", line.json, "With --check-config: print JSON")->needs(check);
  app.add_option("--log-level", line.log_level, "Instead of the configuration's log_level")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool was_asked_for = app.exit(error) == 0;  // prints
    line.exit_status = was_asked_for ? 0 : exit_status_of(ErrorKind::Usage);
  }
  return line;
}

}  // namespace keysieve
