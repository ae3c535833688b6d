// /metrics, for Prometheus. docs/metrics.md says what each of them means.
#pragma once

#include <string>

#include "tools/loader/http/loader_view.hpp"

namespace keysieve {

std::string metrics_text(const LoaderView& view);

}  // namespace keysieve
