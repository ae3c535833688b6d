#include "tests/support/redis_server.hpp"

#include <algorithm>
#include <stdexcept>

#include "tests/support/forked.hpp"

namespace keysieve::test {

std::unique_ptr<RedisServer> start_sentinel(const RedisServer& master, int quorum,
                                            std::vector<std::string> options) {
  const std::string name = kMasterName;
  // The timeout is so long that a server which is only slow, on a busy machine, never counts as lost.
  const std::string configuration = "sentinel monitor " + name + " 127.0.0.1 " +
                                    std::to_string(master.port()) + " " + std::to_string(quorum) +
                                    "\nsentinel down-after-milliseconds " + name +
                                    " 600000\nsentinel failover-timeout " + name + " 600000\n";
  options.insert(options.begin(), "--sentinel");
  auto sentinel = std::make_unique<RedisServer>(std::move(options), configuration);
  // Exchanges news ten times per second, not every ten, one or two seconds. Does not stop acting for half a
  // minute after two seconds without a processor.
  sentinel->command("SENTINEL DEBUG INFO-PERIOD 100 PING-PERIOD 100 PUBLISH-PERIOD 100 TILT-TRIGGER 600000");
  return sentinel;
}

RedisSentinels::RedisSentinels(std::size_t replicas, std::size_t sentinels,
                               const std::vector<std::string>& options)
    : master_(options) {
  std::vector<std::string> of_replica = following(master_);
  of_replica.insert(of_replica.end(), options.begin(), options.end());
  for (std::size_t i = 0; i < replicas; ++i) replicas_.push_back(std::make_unique<RedisServer>(of_replica));
  if (replicas > 0) master_.flush_with_replicas(replicas);
  const int majority = static_cast<int>(sentinels / 2 + 1);
  for (std::size_t i = 0; i < sentinels; ++i)
    sentinels_.push_back(start_sentinel(master_, majority, options));
  wait_until_sentinels_know_all();
}

// A sentinel alone would notice after a time that is either long or too short for a busy machine. It
// chooses the replica that had the most data when it last asked.
void RedisSentinels::lose_master() {
  if (master_.pid() < 0) return;
  master_.kill();
  const bool is_up_to_date = eventually([&] { return knows_what_replicas_have(sentinel()); });
  if (!is_up_to_date || sentinel().command(std::string("SENTINEL FAILOVER ") + kMasterName) != "+OK")
    throw std::runtime_error("Redis Sentinel: no failover");
}

bool RedisSentinels::knows_what_replicas_have(const RedisServer& sentinel) const {
  const std::string known = sentinel.reply(std::string("SENTINEL REPLICAS ") + kMasterName);
  return std::all_of(replicas_.begin(), replicas_.end(), [&](const auto& replica) {
    const std::string offset = std::to_string(info_of(*replica, "replication", "slave_repl_offset:"));
    const std::size_t entry = known.find("\r\n" + replica->address() + "\r\n");
    const std::string expected =
        "slave-repl-offset\r\n$" + std::to_string(offset.size()) + "\r\n" + offset + "\r\n";
    return replica->text("INFO replication").find("master_link_status:down") != std::string::npos &&
           known.find(expected, entry) < known.find("\r\nname\r\n", entry);
  });
}

std::string RedisSentinels::url() const {
  std::string url = master_.scheme() + "-sentinel://";
  for (const auto& sentinel : sentinels_) {
    url.append(sentinel == sentinels_[0] ? "" : ",").append(sentinel->address());
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

RedisSentinels& shared_redis_sentinels_over_tls() {
  static RedisSentinels sentinels(0, 1, with_tls());
  return sentinels;
}

}  // namespace keysieve::test
