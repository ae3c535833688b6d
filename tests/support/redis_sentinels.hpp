// A real Redis Sentinel on loopback: a master that sentinels watch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/redis_server.hpp"

namespace keysieve::test {

inline constexpr const char* kMasterName = "mymaster";

// Starts a sentinel that monitors the server as kMasterName; `quorum` sentinels must agree that it is lost.
std::unique_ptr<RedisServer> start_sentinel(const RedisServer& master, int quorum,
                                            std::vector<std::string> options = {});

class RedisSentinels {
 public:
  // `options` are added to those of every server. Returns when every sentinel knows the replicas and the
  // other sentinels, and the replicas are in step.
  explicit RedisSentinels(std::size_t replicas, std::size_t sentinels = 3,
                          const std::vector<std::string>& options = {});

  [[nodiscard]] RedisServer& master() noexcept { return master_; }
  [[nodiscard]] RedisServer& replica() { return *replicas_.at(0); }
  [[nodiscard]] RedisServer& sentinel(std::size_t index = 0) { return *sentinels_.at(index); }
  // Kills the master, unless it is dead already, and makes the first sentinel replace it with a replica.
  // Returns when that has begun.
  void lose_master();
  // Names all sentinels.
  [[nodiscard]] std::string url() const;

 private:
  void wait_until_sentinels_know_all();
  [[nodiscard]] bool knows_what_replicas_have(const RedisServer& sentinel) const;

  RedisServer master_;
  std::vector<std::unique_ptr<RedisServer>> replicas_;
  std::vector<std::unique_ptr<RedisServer>> sentinels_;
};

// The instances of this test binary, started by the first case that asks for one: a master, and a sentinel
// that knows it.
RedisSentinels& shared_redis_sentinels();
RedisSentinels& shared_redis_sentinels_over_tls();

}  // namespace keysieve::test
