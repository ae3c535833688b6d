// Where the commands of a Redis store go. Each command names one key, which decides where there are several
// servers.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tools/stores/redis_connection.hpp"

namespace keysieve {

struct KeyedCommand {
  std::string_view key;
  RedisCommand words;
};

// One thread. Throws as a Store does.
class RedisServers {
 public:
  virtual ~RedisServers() = default;

  // Unless connected and usable.
  virtual void connect() = 0;
  // One reply for each, unless check_reply() throws for one.
  virtual std::vector<RedisReply> exchange(std::span<const KeyedCommand> commands) = 0;
  // Calls it for each server that takes writes; where one fails, perhaps once more for all.
  virtual void visit_masters(const std::function<void(RedisConnection&)>& visit) = 0;
  // Of the server that the key is written to.
  virtual RedisAddress address_of(std::string_view key) = 0;
  // Whether one command may name several keys.
  [[nodiscard]] virtual bool keeps_keys_together() const noexcept = 0;
};

// All commands go to one server.
std::unique_ptr<RedisServers> make_single_redis(RedisAddress address);

}  // namespace keysieve
