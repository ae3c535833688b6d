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

enum class Effect { Reads, Writes };

// What the stores of Redis have in common.
struct RedisSettings {
  RedisAddress address;
  int wait_replicas = 0;  // what was written must have reached so many, each time
};

// One thread. Throws as a Store does.
class RedisServers {
 public:
  virtual ~RedisServers() = default;

  // Unless connected and usable.
  virtual void connect() = 0;
  // One reply for each, unless check_reply() throws for one. What is written has then reached as many
  // replicas as the settings ask for; throws UnavailableError where it has not, but may.
  virtual std::vector<RedisReply> exchange(std::span<const KeyedCommand> commands, Effect effect) = 0;
  // Calls it for each server that takes writes; where one fails, perhaps once more for all.
  virtual void visit_masters(const std::function<void(RedisConnection&)>& visit) = 0;
  // Of the server that the key is written to.
  virtual RedisAddress address_of(std::string_view key) = 0;
  // Whether one command may name several keys.
  [[nodiscard]] virtual bool keeps_keys_together() const noexcept = 0;
};

// All commands go to one server.
std::unique_ptr<RedisServers> make_single_redis(const RedisSettings& settings);

}  // namespace keysieve
