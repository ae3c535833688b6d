// /status.json: what `keysieve status --json` prints, plus what only the loader knows.
#pragma once

#include <string>

#include "tools/loader/http/loader_view.hpp"

namespace keysieve {

std::string json_text(const LoaderView& view);

}  // namespace keysieve
