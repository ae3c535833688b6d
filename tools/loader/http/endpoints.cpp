#include "tools/loader/http/endpoints.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "tools/loader/http/health.hpp"
#include "tools/loader/http/loader_view.hpp"
#include "tools/loader/http/page/page_files.hpp"

namespace keysieve {
namespace {

HttpAnswer page_answer(const PageFile& file) {
  return {.content_type = file.content_type,
          .body = std::string(file.text),
          .headers = {{"Content-Security-Policy", kPagePolicy}, {"Referrer-Policy", "no-referrer"}}};
}

}  // namespace

HttpAnswer Endpoints::operator()(std::string_view path) {
  using Shards = LoaderViewer::Shards;
  const SteadyTime now = std::chrono::steady_clock::now();
  if (path == "/livez") return answer_livez(board_.read(), now, limits_);
  if (path == "/healthz") return answer_healthz(board_.read(), now, limits_);
  if (path == "/startz") return answer_startz(board_.read(), now, limits_);
  if (path == "/metrics") {
    return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
            .body = metrics_text(viewer_.look(Shards::Skip))};
  }
  if (path == "/status.json") {
    return {.content_type = "application/json", .body = status_json_text(viewer_.look(Shards::Skip))};
  }
  if (path == "/page.json") {
    return {.content_type = "application/json", .body = page_json_text(viewer_.look(Shards::Read))};
  }
  const auto file = std::ranges::find(page_files(), path, &PageFile::path);
  if (file != page_files().end()) return page_answer(*file);
  return {.status = 404, .body = "here are /, /metrics, /status.json, /livez, /healthz and /startz\n"};
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
