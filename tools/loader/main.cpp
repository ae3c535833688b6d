// The daemon keysieved: keeps shared memory equal to the store.
#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <memory>
#include <utility>

#include "tools/loader/config/config.hpp"
#include "tools/loader/daemon.hpp"
#include "tools/loader/logging.hpp"
#include "tools/program/program.hpp"

namespace keysieve {
namespace {

constexpr const char* kDescription =
    "keysieved keeps the sets in shared memory equal to what their stores call current.";

constexpr const char* kFooter = R"(Examples:
  keysieved                                     run, with /etc/keysieve/keysieve.toml
  keysieved --config keysieve.toml --once       refresh every set once, for cron or a container's start
  keysieved --check-config && systemctl reload keysieved

Signals: SIGHUP runs keysieved again in the same process (a wrong configuration is refused and the old one stays
in force), SIGUSR1 refreshes all sets now, SIGTERM and SIGINT stop. What is published stays live when keysieved stops.

Exit status: 0; of sysexits: 64 usage, 65 a store's data or a guard, 66 nothing pushed yet or no such directory,
69 store unreachable, 71 no memory, 73 cannot create, 75 locked, 77 permission, 78 configuration. --once: 0 when every
set is live and equal to its store, else the highest that any set met.)";

LoaderCommandLine parse_command_line(int argc, char* const* argv) {
  LoaderCommandLine line;
  line.arguments = argv;
  CLI::App app(kDescription, "keysieved");
  app.footer(kFooter);
  app.set_version_flag("-V,--version", "keysieved " + std::string(kVersion));
  app.add_option("--config", line.config_path, "Configuration file; conf.d/*.toml next to it is included")
      ->type_name("FILE")
      ->capture_default_str();
  auto* once = app.add_flag("--once", line.once, "Refresh every set once, then end");
  app.add_flag("--check-config", line.check_config,
               "Print what the configuration says, then end; keysieve doctor asks the stores too")
      ->excludes(once);
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

int refresh_once(LoaderConfig config) {
  config.is_once = true;
  Loader loader(config, [] { return true; });
  loader.round();
  while (loader.has_more()) {
    loader.look_at_seen_sets();
    loader.refresh_woken();
  }
  return loader.exit_status();
}

int run(const LoaderCommandLine& line) {
  LoaderConfig config = load_config(line.config_path);
  if (line.check_config) {
    fmt::print("{}", summary_text(config));
    if (std::fflush(stdout) != 0) end_if_reader_is_gone(errno);
    return 0;
  }
  check_loader_user(config);
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("keysieved", std::make_shared<LogSink>(STDERR_FILENO)));
  spdlog::set_level(spdlog::level::from_str(line.log_level.value_or(config.log_level)));
  if (line.once) return refresh_once(std::move(config));
  Daemon(line, std::move(config)).run();
  return 0;
}

// Needs no memory, and waits for no reader.
int fail(std::string_view message, int exit_status) noexcept {
  for (const std::string_view part : {std::string_view("keysieved: "), message, std::string_view("\n")})
    write_without_waiting(STDERR_FILENO, part);
  return exit_status;
}

}  // namespace
}  // namespace keysieve

int main(int argc, char** argv) {
  using namespace keysieve;
  begin_program("keysieved");
  try {
    const LoaderCommandLine line = parse_command_line(argc, argv);
    return line.exit_status ? *line.exit_status : run(line);
  } catch (const Error& error) {
    return fail(error.what(), exit_status_of(error.kind()));
  } catch (const std::exception& error) {
    end_if_reader_is_gone(error);
    return fail(text_of(error), exit_status_of(error));
  }
}
