// /status.json: what `keysieve status --json` prints, and what the loader knows beside it.
#pragma once

#include <string>

#include "tools/loader/http/loader_view.hpp"

namespace keysieve {

std::string json_text(const LoaderView& view);

}  // namespace keysieve
