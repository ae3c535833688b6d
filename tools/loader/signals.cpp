#include "tools/loader/signals.hpp"

#include <algorithm>

namespace keysieve {

Signals::Signals() {
  ::sigemptyset(&signals_);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) ::sigaddset(&signals_, number);
  ::sigprocmask(SIG_BLOCK, &signals_, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

std::optional<int> Signals::wait(std::chrono::milliseconds timeout) {
  const auto left = std::max(timeout, std::chrono::milliseconds(0));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(left - seconds);
  const timespec limit{.tv_sec = seconds.count(), .tv_nsec = rest.count()};
  const int number = ::sigtimedwait(&signals_, nullptr, &limit);
  return number > 0 ? std::optional(number) : std::nullopt;
}

bool Signals::is_stop_pending() {
  sigset_t pending;
  ::sigpending(&pending);
  return ::sigismember(&pending, SIGTERM) == 1 || ::sigismember(&pending, SIGINT) == 1;
}

}  // namespace keysieve
