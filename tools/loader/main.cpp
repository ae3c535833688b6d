// The daemon keysieved: keeps shared memory equal to the store.
#include <fmt/core.h>
#include <unistd.h>

#include <exception>
#include <utility>

#include "tools/loader/command_line.hpp"
#include "tools/loader/config/config.hpp"
#include "tools/loader/daemon.hpp"
#include "tools/loader/logging.hpp"
#include "tools/program/program.hpp"
#include "tools/program/unwaited_write.hpp"
#include "tools/stores/store.hpp"

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

// A store that cannot be asked now has nothing to do with the configuration.
void warn_of_risks(const LoaderConfig& config) {
  for (const StoreConfig& store : config.stores) {
    try {
      if (!store.url.starts_with("redis")) continue;  // others may need files that this user must not make
      for (const std::string& risk : open_store(store.url, IfMissing::Refuse, Patience::None)->risks(true))
        fmt::print(stderr, "keysieved: warning: store {}: {}\n", store.name, risk);
    } catch (const Error&) {
    }
  }
}

int run(const LoaderCommandLine& line) {
  LoaderConfig config = load_config(line.config_path);
  if (line.check_config) {
    fmt::print("{}", line.json ? summary_json(config) : summary_text(config));
    std::fflush(stdout);
    warn_of_risks(config);
    return 0;
  }
  check_loader_user(config);
  start_logging();
  if (line.once) return refresh_once(line, std::move(config));
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
    return fail(text_of(error), exit_status_of(error));
  }
}
