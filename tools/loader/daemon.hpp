// keysieved's main loop, in one thread: a round over all sets; then, until the next one, it follows what the
// watches of the stores tell, and answers signals.
#pragma once

#include <optional>
#include <vector>

#include "tools/loader/command_line.hpp"
#include "tools/loader/config/health_limits.hpp"
#include "tools/loader/http/endpoints.hpp"
#include "tools/loader/loader.hpp"
#include "tools/loader/service_notifier.hpp"
#include "tools/loader/signals.hpp"

namespace keysieve {

class Daemon {
 public:
  Daemon(LoaderCommandLine command_line, LoaderConfig config, const HealthLimits& limits = {});

  // Returns when it was told to stop.
  void run();

 private:
  enum class Next { Round, Stop };

  // After a look that a store has asked for: what comes meanwhile is taken in one go, and a watch that wakes
  // us for nothing costs no more than that many looks.
  static constexpr Milliseconds kLeastPause{5};

  Next follow_until_next_round();
  void wait(SteadyTime until, const std::vector<int>& descriptors) const;
  Next answer(int signal);
  void reload();
  void use(LoaderConfig config);
  void tell_service();
  void say_ready_when_it_is();
  bool on_progress();

  LoaderCommandLine command_line_;
  LoaderConfig config_;
  Signals signals_;
  ServiceNotifier service_;
  const HealthLimits limits_;
  StatusBoard board_;
  HttpService status_{board_, limits_};
  std::optional<Loader> loader_;
  bool has_said_ready_ = false;
  bool is_first_round_ = true;
};

}  // namespace keysieve
