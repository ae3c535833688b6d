// A real Redis Cluster on loopback: three masters, each with a replica, for one test or one test binary. No
// server is taken for lost because the machine is slow: a test says when a replica takes over.
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

  // Further options of every server. Returns when every node takes commands and the replicas are in step.
  explicit RedisCluster(const std::vector<std::string>& options = {});

  // A new one for one case, whose servers have been starting since the case before: a master takes no command
  // in its first two seconds.
  static std::unique_ptr<RedisCluster> take();

  // The first three are the masters of the first, middle and last third of the slots, until one is lost; the
  // replica of node i is node i + 3.
  RedisServer& node(std::size_t index) { return *nodes_.at(index); }
  RedisServer& replica_of(const RedisServer& master);
  // Names all nodes.
  [[nodiscard]] std::string url() const;
  // The node that has the slot, as the first node that lives sees it.
  RedisServer& master_of(std::size_t slot);
  // Returns when every node that lives says so, and by which epoch: who has not heard of it would not begin a
  // newer one with the next move, and be overruled for ever.
  void wait_until_all_know(const RedisServer& master, std::size_t slot);

  // To be called right before the master is lost. Its replica takes its place as soon as somebody has missed
  // it, and asks the others who has the slots now.
  void replace_when_missed(const RedisServer& master);
  // From now on nodes that do not answer for a second are taken for lost, busy or not.
  void notice_losses_soon();

  // CLUSTER SLOTS leaves a replica out until the nodes have told each other what it has. Returns when every
  // node names each master's.
  void wait_until_replicas_are_named();

  void flush();

 private:
  struct Launched {};
  explicit RedisCluster(Launched, const std::vector<std::string>& options);
  void meet() const;
  void form();
  // Runs it while nodes talk to each other often.
  template <typename Work>
  void while_they_talk(const Work& work);
  void set_node_timeout(const std::string& milliseconds) const;
  [[nodiscard]] bool is_ok();
  RedisServer& master_of(std::size_t slot, const RedisServer& witness);

  std::array<std::unique_ptr<RedisServer>, 2 * kMasters> nodes_;
  std::array<int, 2 * kMasters> bus_ports_{};
  std::optional<std::jthread> successor_;  // ends before the nodes do
};

// The one of this test binary, started by the first case that asks for it, which takes some three seconds.
RedisCluster& shared_redis_cluster();

}  // namespace keysieve::test
