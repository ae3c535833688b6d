// The state of sets as JSON, for `keysieve status --json` and for keysieved's server.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/status/directory_status.hpp"
#include "tools/status/set_status.hpp"

namespace keysieve {

// Members of sets that are not published are left out; members without a value are null.
nlohmann::ordered_json to_json(const SetStatus& status);
// Without its sets.
nlohmann::ordered_json to_json(const DirectoryStatus& status);

}  // namespace keysieve
