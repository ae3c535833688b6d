// Whether the loader is alive and ready, as a status code and a line that says why: for whatever restarts
// it or waits for it.
#pragma once

#include <algorithm>
#include <chrono>

#include "tools/loader/config/health_limits.hpp"
#include "tools/loader/http/http_server.hpp"
#include "tools/loader/report/status_board.hpp"

namespace keysieve {

// The pulse of the loader's main loop.
struct Heartbeat {
  std::chrono::duration<double> age{};  // since its last sign of life
  bool is_alive = true;
};

inline Heartbeat heartbeat_of(const LoaderReport& report, SteadyTime now, const HealthLimits& limits) {
  const auto age = std::max(now - report.alive_at, SteadyTime::duration(0));
  return {.age = age, .is_alive = age <= limits.longest_silence};
}

// 200 as long as it shows signs of life; a loader without them should be restarted.
HttpAnswer answer_livez(const LoaderReport& report, SteadyTime now, const HealthLimits& limits);
// 200 when it is alive and no set is held back by this host.
HttpAnswer answer_healthz(const LoaderReport& report, SteadyTime now, const HealthLimits& limits);
// 200 when no set is held back by this host, or one has been for so long that nothing should wait any
// longer.
HttpAnswer answer_startz(const LoaderReport& report, SteadyTime now, const HealthLimits& limits);

}  // namespace keysieve
