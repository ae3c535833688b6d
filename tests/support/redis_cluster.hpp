// A real Redis Cluster on loopback: three masters, each with a replica, for one test or one test binary. No
// server counts as lost because the machine is slow: a test says when a replica takes over.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "tests/support/redis_server.hpp"

namespace keysieve::test {

class RedisCluster {
 public:
  static constexpr std::size_t kMasters = 3;

  // `options` are added to those of every server. Returns when every node takes commands and the replicas
  // are in step.
  explicit RedisCluster(const std::vector<std::string>& options = {});

  // Takes a new cluster for one case. Its servers have been starting since the case before: a master takes
  // no command in its first two seconds.
  static std::unique_ptr<RedisCluster> take();

  // The first three are the masters of the first, middle and last third of the slots, until one is lost; the
  // replica of node i is node i + 3.
  RedisServer& node(std::size_t index) { return *nodes_.at(index); }
  RedisServer& replica_of(const RedisServer& master);
  // Names all nodes.
  [[nodiscard]] std::string url() const;
  // The node that has the slot, as the first live node sees it.
  RedisServer& master_of(std::size_t slot);
  // Returns when every live node names that master, and its epoch. A node that missed the epoch would not
  // begin a newer one with the next move, and would be overruled forever.
  void wait_until_all_know(const RedisServer& master, std::size_t slot);

  // Call it right before the master is lost. Its replica takes over as soon as a client misses the master
  // and asks the other nodes which one has the slots now.
  void replace_when_missed(const RedisServer& master);
  // From now on nodes that do not answer for a second count as lost, busy or not.
  void notice_losses_soon();

  // CLUSTER SLOTS omits a replica until the nodes have told each other what it has. Returns when every node
  // names every replica.
  void wait_until_replicas_are_named();

  void flush();

 private:
  struct Launched {};
  explicit RedisCluster(Launched, const std::vector<std::string>& options);
  void meet() const;
  void form();
  // Runs `work` while the nodes talk to each other often.
  template <typename Work>
  void while_they_talk(const Work& work);
  void set_node_timeout(const std::string& milliseconds) const;
  [[nodiscard]] bool is_ok();
  RedisServer& master_of(std::size_t slot, const RedisServer& witness);

  std::array<std::unique_ptr<RedisServer>, 2 * kMasters> nodes_;
  std::array<int, 2 * kMasters> bus_ports_{};
  std::optional<std::jthread> successor_;  // ends before the nodes do
};

// The clusters of this test binary. The first case that asks for one starts it, which takes about three
// seconds.
RedisCluster& shared_redis_cluster();
RedisCluster& shared_redis_cluster_over_tls();

}  // namespace keysieve::test
