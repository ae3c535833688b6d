#include "tools/loader/http/health.hpp"

#include <fmt/core.h>

#include <utility>

namespace keysieve {
namespace {

constexpr const char* kReady = "ready\n";
constexpr const char* kNotReady = "not ready: a set was not looked at or published yet\n";

HttpAnswer unavailable(std::string why) {
  return {.status = 503, .body = std::move(why)};
}

}  // namespace

HttpAnswer answer_livez(const LoaderReport& report, SteadyTime now, const HealthLimits& limits) {
  const Heartbeat heartbeat = heartbeat_of(report, now, limits);
  if (heartbeat.is_alive) return {.body = "alive\n"};
  return unavailable(
      fmt::format("the loader has given no sign of life for {:.0f} s\n", heartbeat.age.count()));
}

HttpAnswer answer_healthz(const LoaderReport& report, SteadyTime now, const HealthLimits& limits) {
  HttpAnswer alive = answer_livez(report, now, limits);
  if (alive.status != 200) return alive;
  return report.is_ready ? HttpAnswer{.body = kReady} : unavailable(kNotReady);
}

HttpAnswer answer_startz(const LoaderReport& report, SteadyTime now, const HealthLimits& limits) {
  if (report.is_ready) return {.body = kReady};
  if (now - report.begun_at < limits.longest_start) return unavailable(kNotReady);
  return {.body = "not ready, but the time to wait for it is over\n"};
}

}  // namespace keysieve
