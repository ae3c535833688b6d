// What keysieved answers over HTTP: the page, metrics, JSON and health. Runs next to the loader and never
// keeps it waiting.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/loader/config/health_limits.hpp"
#include "tools/loader/http/http_server.hpp"
#include "tools/loader/http/loader_view.hpp"

namespace keysieve {

// Used in the server's thread alone.
class Endpoints {
 public:
  Endpoints(const StatusBoard& board, const HealthLimits& limits)
      : board_(board), limits_(limits), viewer_(board, limits) {}

  HttpAnswer operator()(std::string_view path);

 private:
  const StatusBoard& board_;
  const HealthLimits limits_;
  LoaderViewer viewer_;
};

class HttpService {
 public:
  HttpService(const StatusBoard& board, const HealthLimits& limits) : answers_(board, limits) {}

  // Serves where the configuration says, or nowhere. An address that cannot be used is logged once, and
  // tried again by the next call.
  void follow(const std::optional<StatusConfig>& config);

 private:
  void start(const StatusConfig& config);

  Endpoints answers_;
  std::optional<StatusConfig> served_;
  std::string failure_;               // that was said
  std::optional<HttpServer> server_;  // ends before the answers
};

}  // namespace keysieve
