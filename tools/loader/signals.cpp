#include "tools/loader/signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

#include "core/worker/base/error.hpp"

namespace keysieve {

Signals::Signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) ::sigaddset(&signals, number);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
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

}  // namespace keysieve
