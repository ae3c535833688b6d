// The state of sets as JSON, for `keysieve status --json` and for keysieved's server.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/status/directory_status.hpp"
#include "tools/status/seen_set_facts.hpp"
#include "tools/status/set_facts.hpp"

namespace keysieve {

// Members of sets that are not published are left out; members without a value are null. What only the loader
// knows is added by keysieved.
nlohmann::ordered_json to_json(const SetFacts& set);
nlohmann::ordered_json to_json(const SeenSetFacts& set);
// Without its sets.
nlohmann::ordered_json to_json(const DirectoryStatus& status);

}  // namespace keysieve
