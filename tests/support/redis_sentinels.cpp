#include "tests/support/redis_sentinels.hpp"

#include <stdexcept>

#include "tests/support/forked.hpp"

namespace keysieve::test {

std::string address_of(const RedisServer& server) {
  return "127.0.0.1:" + std::to_string(server.port());
}

std::unique_ptr<RedisServer> start_sentinel(const RedisServer& master, int quorum,
                                            std::vector<std::string> options) {
  const std::string name = kMasterName;
  // So short times that a lost master is replaced within seconds.
  const std::string configuration = "sentinel monitor " + name + " 127.0.0.1 " +
                                    std::to_string(master.port()) + " " + std::to_string(quorum) +
                                    "\nsentinel down-after-milliseconds " + name +
                                    " 1000\nsentinel failover-timeout " + name + " 5000\n";
  options.insert(options.begin(), "--sentinel");
  return std::make_unique<RedisServer>(std::move(options), configuration);
}

RedisSentinels::RedisSentinels(std::size_t replicas, std::size_t sentinels) {
  const std::vector<std::string> follow{"--replicaof", "127.0.0.1", std::to_string(master_.port())};
  for (std::size_t i = 0; i < replicas; ++i) replicas_.push_back(std::make_unique<RedisServer>(follow));
  if (replicas > 0) master_.flush_with_replicas(replicas);
  const int majority = static_cast<int>(sentinels / 2 + 1);
  for (std::size_t i = 0; i < sentinels; ++i) sentinels_.push_back(start_sentinel(master_, majority));
  wait_until_sentinels_know_all();
}

std::string RedisSentinels::url() const {
  std::string url = "redis-sentinel://";
  for (const auto& sentinel : sentinels_) {
    url.append(sentinel == sentinels_[0] ? "" : ",").append(address_of(*sentinel));
  }
  return url.append("/").append(kMasterName);
}

void RedisSentinels::wait_until_sentinels_know_all() {
  const auto counts = [](const RedisServer& sentinel, const char* what, std::size_t count) {
    return sentinel.command(std::string("SENTINEL ") + what + " " + kMasterName) ==
           "*" + std::to_string(count);
  };
  for (const auto& sentinel : sentinels_) {
    const bool knows_all = eventually([&] {
      return counts(*sentinel, "REPLICAS", replicas_.size()) &&
             counts(*sentinel, "SENTINELS", sentinels_.size() - 1);
    });
    if (!knows_all) throw std::runtime_error("Redis Sentinel: a sentinel does not know all servers");
  }
}

RedisSentinels& shared_redis_sentinels() {
  static RedisSentinels sentinels(0, 1);
  return sentinels;
}

}  // namespace keysieve::test
