// Live keys without a store and a loader: publishes a snapshot with room for them and adds them, as the
// loader does with the keys of an adds log.
#pragma once

#include <string>
#include <vector>

namespace keysieve::test {

// Throw what Publisher throws.
void publish_with_layer(const std::string& directory, const std::string& snapshot_path);
void add_live_keys(const std::string& directory, const std::string& set_name,
                   const std::vector<std::string>& keys);

}  // namespace keysieve::test
