// The signals the daemon answers to, taken one at a time in its main loop instead of in handlers: SIGTERM and
// SIGINT stop it, SIGHUP reloads the configuration, SIGUSR1 refreshes all sets now.
#pragma once

#include <signal.h>

#include <optional>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve {

class Signals {
 public:
  // Blocks them in this thread from now on, and ignores SIGPIPE, so that a store that hangs up is an error.
  // Throws CannotCreate.
  Signals();

  // Becomes readable when there is one to take.
  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }
  // The next one that is pending. Does not wait.
  std::optional<int> take();
  // Whether SIGTERM or SIGINT is pending.
  [[nodiscard]] static bool is_stop_pending();

 private:
  FileDescriptor file_;
};

inline bool is_stop(int signal) noexcept {
  return signal == SIGTERM || signal == SIGINT;
}

}  // namespace keysieve
