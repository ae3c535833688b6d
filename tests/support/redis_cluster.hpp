// A real Redis Cluster on loopback: three masters, each with a replica, for one test or one test binary. A
// master that is lost is replaced by its replica within seconds.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "tests/support/redis_server.hpp"

namespace keysieve::test {

class RedisCluster {
 public:
  static constexpr std::size_t kMasters = 3;

  // Further options of every server. Returns when every node takes commands and the replicas are in step.
  explicit RedisCluster(const std::vector<std::string>& options = {});

  // The first three are the masters of the first, middle and last third of the slots, until one is lost; the
  // replica of node i is node i + 3.
  RedisServer& node(std::size_t index) { return *nodes_.at(index); }
  // Names all nodes.
  [[nodiscard]] std::string url() const;
  // The node that has the slot, as the first node that lives sees it.
  RedisServer& master_of(std::size_t slot);
  // Returns when every node that lives says so, and by which epoch: who has not heard of it would not begin a
  // newer one with the next move, and be overruled for ever.
  void wait_until_all_know(const RedisServer& master, std::size_t slot);

  // CLUSTER SLOTS leaves a replica out until the nodes have told each other what it has. Returns when every
  // node names each master's.
  void wait_until_replicas_are_named();

  void flush();
  // What remains serves all slots.
  void wait_until_ok();

 private:
  RedisServer& master_of(std::size_t slot, const RedisServer& witness);

  std::array<std::unique_ptr<RedisServer>, 2 * kMasters> nodes_;
};

// The one of this test binary, started by the first case that asks for it, which takes some three seconds.
RedisCluster& shared_redis_cluster();

}  // namespace keysieve::test
