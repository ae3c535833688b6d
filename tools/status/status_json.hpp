// The state of sets as JSON: what `keysieve status --json` prints, and keysieved serves.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/status/directory_status.hpp"
#include "tools/status/set_status.hpp"

namespace keysieve {

// Members of what is not published are left out; what has no value is null.
nlohmann::ordered_json to_json(const SetStatus& status);
// Without its sets.
nlohmann::ordered_json to_json(const DirectoryStatus& status);

}  // namespace keysieve
