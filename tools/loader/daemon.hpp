// keysieved's main loop, in one thread: a round over all sets; then, until the next one, it follows what the
// watches of the stores tell, and answers signals.
#pragma once

#include <optional>
#include <vector>

#include "tools/loader/config/config.hpp"
#include "tools/loader/config/schedule.hpp"
#include "tools/loader/http/endpoints.hpp"
#include "tools/loader/loader.hpp"
#include "tools/loader/running_again.hpp"
#include "tools/loader/service_notifier.hpp"

namespace keysieve {

struct LoaderCommandLine {
  std::string config_path{kDefaultConfigPath};
  bool once = false;
  bool check_config = false;
  std::optional<std::string> log_level;  // instead of the configuration's
  char* const* arguments = nullptr;      // of main(), for a reload

  // --help, --version and wrong arguments have been answered already: end with this.
  std::optional<int> exit_status;
};

// The signals the daemon answers to, taken one at a time in its main loop instead of in handlers: SIGTERM and
// SIGINT stop it, SIGHUP runs the program again, SIGUSR1 refreshes all sets now.
class Signals {
 public:
  // Blocks them in this thread from now on. Throws CannotCreate.
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

class Daemon {
 public:
  Daemon(LoaderCommandLine command_line, LoaderConfig config, const HealthLimits& limits = {});

  // Returns when it was told to stop. Does not return when a reload runs the program again.
  void run();

 private:
  // After a look that a store has asked for: what comes meanwhile is taken in one go, and a watch that wakes
  // us for nothing costs no more than that many looks.
  static constexpr Milliseconds kLeastPause{5};
  // While something long goes on, and while keys are added one by one: a report costs time for each set.
  static constexpr Milliseconds kBetweenReports{100};

  // These two: false to stop.
  bool follow_until_next_round();
  bool answer(int signal);
  void wait(SteadyTime until, const std::vector<int>& descriptors) const;
  void reload();
  LoaderConfig next_config() const;
  [[nodiscard]] bool is_report_old() const;
  void report();
  void tell_service();
  bool on_progress();

  LoaderCommandLine command_line_;
  LoaderConfig config_;
  Predecessor predecessor_ = take_predecessor("keysieved");
  Signals signals_;
  ServiceNotifier service_;
  const HealthLimits limits_;
  LatestReport reports_;
  HttpService status_{reports_, limits_};
  Loader loader_;
  bool has_said_ready_ = false;
  SteadyTime tell_at_{};  // what looks have found since it was told last
};

}  // namespace keysieve
