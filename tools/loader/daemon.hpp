// keysieved's main loop, in one thread: a round over all sets, then a wait for the next one or for a signal.
#pragma once

#include <optional>
#include <random>

#include "tools/loader/command_line.hpp"
#include "tools/loader/loader.hpp"
#include "tools/loader/service_notifier.hpp"
#include "tools/loader/signals.hpp"

namespace keysieve {

class Daemon {
 public:
  Daemon(LoaderCommandLine command_line, LoaderConfig config);

  // Returns when it was told to stop.
  void run();

 private:
  enum class Next { Round, Stop };

  Next wait_for_next_round();
  void reload();
  void use(LoaderConfig config);
  void tell_service();
  bool on_progress();

  LoaderCommandLine command_line_;
  LoaderConfig config_;
  Signals signals_;
  ServiceNotifier service_;
  std::optional<Loader> loader_;
  std::mt19937_64 random_{std::random_device{}()};
  bool has_said_ready_ = false;
};

}  // namespace keysieve
