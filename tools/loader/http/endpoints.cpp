#include "tools/loader/http/endpoints.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "tools/loader/http/page/page_files.hpp"

namespace keysieve {
namespace {

constexpr const char* kReady = "ready\n";
constexpr const char* kNotReady = "not ready: a set was not looked at or published yet\n";

HttpAnswer unavailable(std::string why) {
  return {.status = 503, .body = std::move(why)};
}

}  // namespace

HttpAnswer answer_livez(const Heartbeat& heartbeat) {
  if (heartbeat.is_alive) return {.body = "alive\n"};
  return unavailable(
      fmt::format("the loader has given no sign of life for {:.0f} s\n", heartbeat.age.count()));
}

HttpAnswer answer_healthz(bool is_ready, const Heartbeat& heartbeat) {
  if (!heartbeat.is_alive) return answer_livez(heartbeat);
  return is_ready ? HttpAnswer{.body = kReady} : unavailable(kNotReady);
}

HttpAnswer answer_startz(bool is_ready, SteadyTime::duration age, const HealthLimits& limits) {
  if (is_ready) return {.body = kReady};
  if (age < limits.longest_start) return unavailable(kNotReady);
  return {.body = "not ready, but the time to wait for it is over\n"};
}

HttpAnswer HttpService::answer(std::string_view path) {
  const SteadyTime now = std::chrono::steady_clock::now();
  const auto report = reports_.read();
  const Heartbeat heartbeat = heartbeat_of(*report, now, limits_);
  if (path == "/livez") return answer_livez(heartbeat);
  if (path == "/healthz") return answer_healthz(report->is_ready, heartbeat);
  if (path == "/startz") return answer_startz(report->is_ready, now - begun_at_, limits_);
  if (path == "/metrics")
    return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
            .body = metrics_text(view_of(report, heartbeat, started_at_, known_))};
  if (path == "/status.json")
    return {.content_type = "application/json",
            .body = status_json_text(view_of(report, heartbeat, started_at_, known_))};
  const auto file = std::ranges::find(page_files(), path, &PageFile::path);
  if (file != page_files().end())
    return {.content_type = file->content_type,
            .body = std::string(file->text),
            .headers = {{"Content-Security-Policy", kPagePolicy}, {"Referrer-Policy", "no-referrer"}}};
  return {.status = 404, .body = "here are /, /metrics, /status.json, /livez, /healthz and /startz\n"};
}

void HttpService::follow(const std::optional<StatusConfig>& config) {
  if (!config) return server_.reset();
  if (server_) return;
  try {
    server_.emplace(config->listen, config->group, [this](std::string_view path) { return answer(path); });
    failure_.clear();
    spdlog::info("status page and metrics at {}", config->listen);
  } catch (const std::exception& error) {
    if (failure_ != error.what()) spdlog::error("no status page and no metrics: {}", error.what());
    failure_ = error.what();
  }
}

}  // namespace keysieve
