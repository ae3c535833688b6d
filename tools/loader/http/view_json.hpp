// What keysieved knows, as JSON.
#pragma once

#include <string>

#include "tools/loader/http/loader_view.hpp"

namespace keysieve {

// /status.json: what `keysieve status --json` prints, plus what only the loader knows.
std::string status_json_text(const LoaderView& view);
// /page.json: the same, plus what only the status page shows. May change with the page.
std::string page_json_text(const LoaderView& view);

}  // namespace keysieve
