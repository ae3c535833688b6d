// The daemon keysieved: keeps shared memory equal to the store.
#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <exception>
#include <utility>

#include "tools/loader/command_line.hpp"
#include "tools/loader/config/config_summary.hpp"
#include "tools/loader/config/loader_user.hpp"
#include "tools/loader/daemon.hpp"
#include "tools/loader/logging.hpp"
#include "tools/program/program.hpp"

namespace keysieve {
namespace {

int refresh_once(const LoaderCommandLine& line, LoaderConfig config) {
  config.is_once = true;
  set_log_level(line.log_level.value_or(config.log_level));
  StatusBoard unread;
  Loader loader(config, unread, [] { return true; });
  loader.round();
  while (loader.has_more()) loader.refresh_woken();
  return loader.exit_status();
}

int run(const LoaderCommandLine& line) {
  LoaderConfig config = load_config(line.config_path);
  if (line.check_config) {
    fmt::print("{}", line.json ? summary_json(config) : summary_text(config));
    return 0;
  }
  check_loader_user(config);
  start_logging();
  if (line.once) return refresh_once(line, std::move(config));
  Daemon(line, std::move(config)).run();
  return 0;
}

}  // namespace
}  // namespace keysieve

int main(int argc, char** argv) {
  using namespace keysieve;
  const LoaderCommandLine line = parse_command_line(argc, argv);
  if (line.exit_status) return *line.exit_status;
  try {
    return run(line);
  } catch (const Error& error) {
    fmt::print(stderr, "keysieved: {}\n", error.what());
    return exit_status_of(error.kind());
  } catch (const std::exception& error) {
    fmt::print(stderr, "keysieved: {}\n", text_of(error));
    return exit_status_of(error);
  }
}
