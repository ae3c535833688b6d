// How the loader is, for those who start it again or wait for it: a status code, and a line that says why.
#pragma once

#include "tools/loader/health_limits.hpp"
#include "tools/loader/http/http_server.hpp"
#include "tools/loader/status_board.hpp"

namespace keysieve {

// 200 as long as it gives signs of life: what does not, wants to be started again.
HttpAnswer answer_livez(const LoaderReport& report, SteadyTime now, const HealthLimits& limits);
// 200 when it is alive and no set is held back by this host.
HttpAnswer answer_healthz(const LoaderReport& report, SteadyTime now, const HealthLimits& limits);
// 200 when no set is held back by this host, or has been for so long that nobody shall wait any more.
HttpAnswer answer_startz(const LoaderReport& report, SteadyTime now, const HealthLimits& limits);

}  // namespace keysieve
