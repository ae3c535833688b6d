// What keysieved answers over HTTP: the page, metrics, JSON and health. Runs next to the loader and never
// keeps it waiting.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/loader/config/schedule.hpp"
#include "tools/loader/http/http_server.hpp"
#include "tools/loader/http/loader_view.hpp"

namespace keysieve {

// Whether the loader is alive and ready, as a status code and a line that says why: for whatever restarts
// it or waits for it.

// 200 as long as it shows signs of life; a loader without them should be restarted.
HttpAnswer answer_livez(const Heartbeat& heartbeat);
// 200 when it is alive and no set is held back by this host.
HttpAnswer answer_healthz(bool is_ready, const Heartbeat& heartbeat);
// 200 when no set is held back by this host, or one has been for so long that nothing should wait any
// longer. `age` is the loader's.
HttpAnswer answer_startz(bool is_ready, SteadyTime::duration age, const HealthLimits& limits);

class HttpService {
 public:
  HttpService(const LatestReport& reports, const HealthLimits& limits) : reports_(reports), limits_(limits) {}

  // Serves where the configuration says, or nowhere any more. An address that cannot be used is logged once,
  // and tried again by the next call.
  void follow(const std::optional<StatusConfig>& config);

 private:
  HttpAnswer answer(std::string_view path);  // in the server's thread

  const LatestReport& reports_;
  const HealthLimits limits_;
  const SteadyTime begun_at_ = SteadyTime::clock::now();
  const UnixSeconds started_at_ = unix_now();
  KnownDistributions known_;          // for the server's thread alone
  std::string failure_;               // that was said
  std::optional<HttpServer> server_;  // ends first
};

}  // namespace keysieve
