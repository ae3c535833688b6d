// Waits for the logs of a Redis store by blocking reads, each on a connection of its own.
#pragma once

#include <memory>

#include "tools/stores/redis/redis_servers.hpp"
#include "tools/stores/store_watch.hpp"

namespace keysieve {

// One connection for all logs, or one for each where a command cannot name several. A server that hangs,
// or whose host is gone, is noticed after seven timeouts and a second.
std::unique_ptr<StoreWatch> make_redis_watch(std::unique_ptr<RedisServers> servers);

}  // namespace keysieve
