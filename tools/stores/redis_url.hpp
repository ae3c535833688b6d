// What a Redis store's URL says.
#pragma once

#include "tools/stores/redis_servers.hpp"
#include "tools/stores/store_url.hpp"

namespace keysieve {

// Throws UsageError, and as files do for a password file.
RedisSettings take_redis_settings(StoreUrl& url);

}  // namespace keysieve
