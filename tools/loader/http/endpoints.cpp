#include "tools/loader/http/endpoints.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <chrono>

#include "core/builder/base/random.hpp"
#include "core/worker/base/error.hpp"
#include "tools/loader/http/health.hpp"
#include "tools/loader/http/metrics_text.hpp"
#include "tools/loader/http/page/status_page.hpp"
#include "tools/loader/http/view_json.hpp"

namespace keysieve {
namespace {

std::string new_nonce() {
  return fmt::format("{:016x}{:016x}", random_value<std::uint64_t>(), random_value<std::uint64_t>());
}

}  // namespace

HttpAnswer Endpoints::operator()(const std::string& path) {
  using Shards = LoaderViewer::Shards;
  const SteadyTime now = std::chrono::steady_clock::now();
  if (path == "/livez") return answer_livez(board_.read(), now, limits_);
  if (path == "/healthz") return answer_healthz(board_.read(), now, limits_);
  if (path == "/startz") return answer_startz(board_.read(), now, limits_);
  if (path == "/") return page();
  if (path == "/metrics") {
    return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
            .body = metrics_text(viewer_.look(Shards::Skip))};
  }
  if (path == "/status.json") {
    return {.content_type = "application/json", .body = json_text(viewer_.look(Shards::Skip))};
  }
  return {.status = 404, .body = "here are /, /metrics, /status.json, /livez, /healthz and /startz\n"};
}

HttpAnswer Endpoints::page() {
  const std::string nonce = new_nonce();
  return {.content_type = "text/html; charset=utf-8",
          .body = status_page(viewer_.look(LoaderViewer::Shards::Read), nonce),
          .headers = {{"Content-Security-Policy", content_security_policy(nonce)},
                      {"Referrer-Policy", "no-referrer"}}};
}

void HttpService::follow(const std::optional<StatusConfig>& config) {
  if (server_ && config == served_) return;
  server_.reset();
  served_ = config;
  if (config) start(*config);
}

void HttpService::start(const StatusConfig& config) {
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
