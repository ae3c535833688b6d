// Root may write anywhere, but not as a loader beside the one of the service: that user could not go on with
// what root has made.
#pragma once

#include "tools/loader/config/config.hpp"

namespace keysieve {

// Throws Permission that names the user if this is root, and the directory, the cache or the folder of a
// configured set belongs to another user.
void check_loader_user(const LoaderConfig& config);

}  // namespace keysieve
