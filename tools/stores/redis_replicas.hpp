// Whether what was written has reached replicas, as `?wait_replicas=` asks: a failover loses what has not.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "tools/stores/redis_servers.hpp"

namespace keysieve {

class ReplicaDemand {
 public:
  // At least so many (0: none need to), asked of a server within `timeout`, which is that for each answer.
  ReplicaDemand(int replicas, std::chrono::milliseconds timeout);

  [[nodiscard]] bool is_any() const noexcept { return replicas_ > 0; }
  // WAIT: to be sent after the writes, over the same connection. Refers to this object.
  [[nodiscard]] RedisCommand command() const { return {"WAIT", replicas_text_, patience_text_}; }
  // Of the reply to it. Throws UnavailableError.
  void check(const redisReply& reply, const std::string& server_name) const;

 private:
  int replicas_;
  std::string replicas_text_;
  std::string patience_text_;
};

// As RedisServers::exchange(), for all who talk to one server at a time.
std::vector<RedisReply> exchange_with(RedisConnection& connection, std::span<const KeyedCommand> commands,
                                      Effect effect, const ReplicaDemand& replicas);

}  // namespace keysieve
