// Whether what was written has reached replicas, as `?wait_replicas=` asks: a failover loses what has not.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/stores/redis/redis_servers.hpp"

namespace keysieve {

class ReplicaDemand {
 public:
  // At least so many (0: none need to; nothing: one, of a server that has any), asked of a server within
  // `timeout`, which is that for each answer.
  ReplicaDemand(std::optional<int> replicas, std::chrono::milliseconds timeout);

  // Of a server of which it is known whether it has replicas.
  [[nodiscard]] bool applies_to(Effect effect, bool has_replicas) const noexcept {
    return effect == Effect::Writes && replicas_ > 0 && (has_replicas || !is_default_);
  }
  // WAIT: to be sent after the writes, over the same connection. Refers to this object.
  [[nodiscard]] RedisCommand command() const { return {"WAIT", replicas_text_, patience_text_}; }
  // Of the reply to it. Throws Unavailable.
  void check(const redisReply& reply, const std::string& server_name) const;

 private:
  bool is_default_;
  int replicas_;
  std::string replicas_text_;
  std::string patience_text_;
};

// As RedisServers::exchange(), for all who talk to one server at a time.
std::vector<RedisReply> exchange_with(RedisConnection& connection, std::span<const KeyedCommand> commands,
                                      Effect effect, const ReplicaDemand& replicas, bool has_replicas);

}  // namespace keysieve
