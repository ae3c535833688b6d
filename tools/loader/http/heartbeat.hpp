// Whether the loader's main loop still goes on.
#pragma once

#include <algorithm>
#include <chrono>

#include "tools/loader/health_limits.hpp"
#include "tools/loader/status_board.hpp"

namespace keysieve {

struct Heartbeat {
  std::chrono::duration<double> age{};  // since its last sign of life
  bool is_alive = true;
};

inline Heartbeat heartbeat_of(const LoaderReport& report, SteadyTime now, const HealthLimits& limits) {
  const auto age = std::max(now - report.alive_at, SteadyTime::duration(0));
  return {.age = age, .is_alive = age <= limits.longest_silence};
}

}  // namespace keysieve
