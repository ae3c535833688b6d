#include "tools/loader/daemon.hpp"

#include <poll.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "tools/program/units.hpp"

namespace keysieve {

Signals::Signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) ::sigaddset(&signals, number);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  file_ = FileDescriptor(::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!file_.is_open()) throw_write_error("signalfd", errno);
}

std::optional<int> Signals::take() {
  signalfd_siginfo signal{};
  if (::read(file_.get(), &signal, sizeof signal) != sizeof signal) return std::nullopt;
  return static_cast<int>(signal.ssi_signo);
}

bool Signals::is_stop_pending() {
  sigset_t pending;
  ::sigpending(&pending);
  return ::sigismember(&pending, SIGTERM) == 1 || ::sigismember(&pending, SIGINT) == 1;
}

Daemon::Daemon(LoaderCommandLine command_line, LoaderConfig config, const HealthLimits& limits)
    : command_line_(std::move(command_line)),
      config_(std::move(config)),
      limits_(limits),
      loader_(
          config_, [this] { return on_progress(); }, std::move(predecessor_.locks)) {
  reports_.replace({.directory = config_.directory,
                    .is_ready = predecessor_.was_ready,
                    .made_at = SteadyTime::clock::now()});
  if (!predecessor_.was_there) return;
  spdlog::info("configuration reloaded: {}",
               format_count_of(config_.sets.size() + config_.seen.size(), "set"));
  if (predecessor_.was_ready) has_said_ready_ = service_.ready("configuration read");
}

void Daemon::run() {
  do {
    status_.follow(config_.status);
    loader_.round();
    tell_at_ = {};
  } while (follow_until_next_round());
  service_.stopping();
  loader_.save_seen_sets();
  spdlog::info("stopping; what is published stays live");
}

// Signals, the watchdog and the next round come first, however often the stores wake us.
bool Daemon::follow_until_next_round() {
  for (;;) {
    service_.alive();
    if (const auto signal = signals_.take()) return answer(*signal);
    const SteadyTime next_round = loader_.round_due_at();
    if (SteadyTime::clock::now() >= next_round) return true;
    loader_.look_at_seen_sets();
    if (SteadyTime::clock::now() >= tell_at_ || is_report_old()) tell_service();
    wait(std::min({next_round, loader_.due_at(), tell_at_}), loader_.descriptors());
    if (!loader_.refresh_woken()) continue;
    const SteadyTime now = SteadyTime::clock::now();
    tell_at_ = std::min(tell_at_, now + kBetweenReports);
    wait(std::min(next_round, now + kLeastPause), {});
  }
}

// Waits for a signal or a descriptor, but not longer than the watchdog and the health check allow.
void Daemon::wait(SteadyTime until, const std::vector<int>& descriptors) const {
  std::vector<pollfd> waiting{{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0}};
  for (const int descriptor : descriptors)
    waiting.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
  const auto left = std::chrono::ceil<Milliseconds>(until - std::chrono::steady_clock::now());
  const Milliseconds longest = std::min(service_.alive_interval(), limits_.longest_silence / 3);
  const auto timeout = std::clamp(left, Milliseconds(0), longest);
  ::poll(waiting.data(), waiting.size(), static_cast<int>(timeout.count()));
}

bool Daemon::answer(int signal) {
  if (signal == SIGTERM || signal == SIGINT) return false;
  if (signal == SIGHUP) {
    reload();
  } else {
    spdlog::info("refreshing all sets now");
    loader_.try_again_now();
  }
  return true;
}

// The next program ends for good if it finds a wrong configuration. So the last look at it comes right before
// that program, after all that may take long.
void Daemon::reload() {
  if (has_said_ready_) service_.reloading();
  loader_.save_seen_sets();
  try {
    if (const auto unsaved = loader_.unsaved_adds()) throw Error(ErrorKind::CannotCreate, *unsaved);
    const std::vector<int> locks = loader_.hand_over(next_config());
    status_.follow(std::nullopt);
    next_config();
    run_again(command_line_.arguments, has_said_ready_, locks);
  } catch (const Error& error) {
    spdlog::error("reload refused, the old configuration stays in force: {}", error.what());
  }
  if (has_said_ready_) has_said_ready_ = service_.ready("reload refused");
}

// Throws why the next program would end at once.
LoaderConfig Daemon::next_config() const {
  LoaderConfig next = load_config(command_line_.config_path);
  check_loader_user(next);
  return next;
}

// A reload takes readiness from nobody: until the sets have been looked at, it is as before.
void Daemon::report() {
  LoaderReport report = loader_.report();
  report.is_ready |= loader_.is_starting() && reports_.read()->is_ready;
  reports_.replace(std::move(report));
}

bool Daemon::is_report_old() const {
  return SteadyTime::clock::now() - reports_.read()->made_at >= kBetweenReports;
}

void Daemon::tell_service() {
  report();
  tell_at_ = SteadyTime::max();
  if (Signals::is_stop_pending()) return;
  if (!has_said_ready_ && loader_.is_ready()) has_said_ready_ = service_.ready(loader_.summary());
  service_.status(loader_.summary());
}

bool Daemon::on_progress() {
  loader_.follow_clock_of_seen_sets();
  if (is_report_old()) report();
  if (!has_said_ready_ && loader_.is_ready()) tell_service();
  service_.alive();
  if (!has_said_ready_ && loader_.is_starting()) service_.still_starting();
  return !Signals::is_stop_pending();
}

}  // namespace keysieve
