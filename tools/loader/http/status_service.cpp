#include "tools/loader/http/status_service.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>

#include "core/base/error.hpp"
#include "core/base/random.hpp"
#include "tools/loader/http/metrics_text.hpp"
#include "tools/loader/http/status_page.hpp"
#include "tools/loader/http/view_json.hpp"

namespace keysieve {
namespace {

// As long as systemd's unit waits for a sign of life.
constexpr std::chrono::seconds kLongestSilence{120};

std::string new_nonce() {
  return fmt::format("{:016x}{:016x}", random_value<std::uint64_t>(), random_value<std::uint64_t>());
}

}  // namespace

HttpAnswer StatusAnswers::operator()(const std::string& path) {
  using Shards = LoaderViewer::Shards;
  if (path == "/healthz") return health();
  if (path == "/") return page();
  if (path == "/metrics") {
    return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
            .body = metrics_text(viewer_.look(Shards::Skip))};
  }
  if (path == "/status.json") {
    return {.content_type = "application/json", .body = json_text(viewer_.look(Shards::Skip))};
  }
  return {.status = 404, .body = "here are /, /metrics, /status.json and /healthz\n"};
}

HttpAnswer StatusAnswers::health() const {
  const LoaderReport report = board_.read();
  const auto silence = std::chrono::steady_clock::now() - report.alive_at;
  if (silence > kLongestSilence) {
    return {.status = 503,
            .body = fmt::format("the loader has given no sign of life for {} s\n",
                                std::chrono::duration_cast<std::chrono::seconds>(silence).count())};
  }
  if (!report.is_ready)
    return {.status = 503, .body = "not ready: a set was not looked at or published yet\n"};
  return {.body = "ready\n"};
}

HttpAnswer StatusAnswers::page() {
  const std::string nonce = new_nonce();
  return {.content_type = "text/html; charset=utf-8",
          .body = status_page(viewer_.look(LoaderViewer::Shards::Read), nonce),
          .headers = {{"Content-Security-Policy", content_security_policy(nonce)},
                      {"Referrer-Policy", "no-referrer"}}};
}

void StatusService::follow(const std::optional<StatusConfig>& config) {
  if (server_ && config == served_) return;
  server_.reset();
  served_ = config;
  if (config) start(*config);
}

void StatusService::start(const StatusConfig& config) {
  try {
    server_.emplace(config.listen, config.group, std::ref(answers_));
    failure_.clear();
    spdlog::info("status page and metrics at {}", config.listen);
  } catch (const std::exception& error) {
    if (failure_ != error.what()) spdlog::error("no status page and no metrics: {}", error.what());
    failure_ = error.what();
  }
}

}  // namespace keysieve
