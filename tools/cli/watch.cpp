#include "tools/cli/watch.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr std::chrono::milliseconds kLeastInterval{100};

// Their arrival ends a wait and is not an end of the program.
sigset_t block_stop_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// Whether one came within that time.
bool is_stopped_within(std::chrono::milliseconds interval, const sigset_t& signals) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(interval);
  const std::chrono::nanoseconds rest = interval - seconds;
  const timespec time{.tv_sec = seconds.count(), .tv_nsec = rest.count()};
  return ::sigtimedwait(&signals, nullptr, &time) > 0;
}

}  // namespace

void add_watch(CLI::App* verb, std::optional<std::chrono::milliseconds>& interval) {
  const auto parse = [](const std::string& text) {
    const auto parsed = parse_duration(text);
    if (parsed >= kLeastInterval) return parsed;
    throw Error(ErrorKind::Usage, "\"" + text + "\" is too often: 100ms at least");
  };
  add_parsed(verb, "--watch", interval, parse, "Show it again and again, every so often [2s], until Ctrl-C")
      ->type_name("DURATION")
      ->expected(0, 1)
      ->default_str("2s");
}

void show_or_watch(const std::optional<std::chrono::milliseconds>& interval,
                   const std::function<void()>& show, const std::function<void(const Error&)>& show_error) {
  if (!interval) return show();
  const bool on_terminal = ::isatty(STDOUT_FILENO) != 0;
  const sigset_t signals = block_stop_signals();
  do {
    if (on_terminal) fmt::print("\033[H\033[2J");
    try {
      show();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Usage) throw;
      show_error(error);
    }
    if (!on_terminal) fmt::print("\n");
    flush_output();
  } while (!is_stopped_within(*interval, signals));
}

}  // namespace keysieve
