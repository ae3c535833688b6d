#include "tools/loader/http/health_answers.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace keysieve {
namespace {

HttpAnswer unavailable(std::string why) {
  return {.status = 503, .body = std::move(why)};
}

}  // namespace

HttpAnswer answer_livez(const LoaderReport& report, SteadyTime now, const HealthLimits& limits) {
  const auto silence = now - report.alive_at;
  if (silence <= limits.longest_silence) return {.body = "alive\n"};
  return unavailable(fmt::format("the loader has given no sign of life for {:.0f} s\n",
                                 std::chrono::duration<double>(silence).count()));
}

HttpAnswer answer_healthz(const LoaderReport& report, SteadyTime now, const HealthLimits& limits) {
  HttpAnswer alive = answer_livez(report, now, limits);
  if (alive.status != 200) return alive;
  if (!report.is_ready) return unavailable("not ready: a set was not looked at or published yet\n");
  return {.body = "ready\n"};
}

}  // namespace keysieve
