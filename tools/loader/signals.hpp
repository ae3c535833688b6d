// The signals the daemon answers to, taken one at a time in its main loop instead of in handlers: SIGTERM and
// SIGINT stop it, SIGHUP reloads the configuration, SIGUSR1 refreshes all sets now.
#pragma once

#include <signal.h>

#include <chrono>
#include <optional>

namespace keysieve {

class Signals {
 public:
  // Blocks them from here on, in this thread; and ignores SIGPIPE, so that a store that hangs up is an error.
  Signals();

  // The next one, at once when it is pending; nothing after the timeout.
  std::optional<int> wait(std::chrono::milliseconds timeout);
  // One that stops is waiting to be taken.
  [[nodiscard]] static bool is_stop_pending();

 private:
  sigset_t signals_;
};

inline bool is_stop(int signal) noexcept {
  return signal == SIGTERM || signal == SIGINT;
}

}  // namespace keysieve
