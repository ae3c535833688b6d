#include "tools/loader/http/health_answers.hpp"

#include <fmt/format.h>

#include <chrono>

namespace keysieve {
namespace {

constexpr unsigned kUnavailable = 503;

}  // namespace

HttpAnswer answer_healthz(const LoaderReport& report, SteadyTime now, const HealthLimits& limits) {
  const auto silence = now - report.alive_at;
  if (silence > limits.longest_silence) {
    return {.status = kUnavailable,
            .body = fmt::format("the loader has given no sign of life for {:.0f} s\n",
                                std::chrono::duration<double>(silence).count())};
  }
  if (!report.is_ready)
    return {.status = kUnavailable, .body = "not ready: a set was not looked at or published yet\n"};
  return {.body = "ready\n"};
}

}  // namespace keysieve
