#include "tests/support/redis_server.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/support/forked.hpp"
#include "tests/support/server_process.hpp"

namespace keysieve::test {
namespace {

constexpr std::size_t kSlots = 16384;
constexpr std::chrono::milliseconds kBetweenLooks{10};
// cluster-node-timeout in milliseconds. A node that does not answer for so long counts as lost; nodes
// exchange what they know twice in that time.
constexpr const char* kShortTimeout = "1000";
constexpr const char* kLongTimeout = "600000";

void wait_until(const std::string& what, const std::function<bool()>& holds) {
  const auto look = [&] {
    if (holds()) return true;
    std::this_thread::sleep_for(kBetweenLooks);
    return false;
  };
  if (!eventually(look)) throw std::runtime_error("Redis Cluster: no " + what);
}

bool lives(const std::unique_ptr<RedisServer>& node) {
  return node->pid() > 0;
}

std::unique_ptr<RedisServer> start_node(int bus_port, const std::vector<std::string>& options) {
  std::vector<std::string> all{"--cluster-enabled",
                               "yes",
                               "--cluster-node-timeout",
                               kShortTimeout,
                               "--cluster-replica-no-failover",
                               "yes",  // by itself
                               "--cluster-port",
                               std::to_string(bus_port)};
  all.insert(all.end(), options.begin(), options.end());
  return std::make_unique<RedisServer>(all);
}

void expect_ok(const RedisServer& node, const std::string& command) {
  const std::string reply = node.command(command);
  if (reply != "+OK") throw std::runtime_error("Redis Cluster: " + command + ": " + reply);
}

// One line of CLUSTER NODES: id address:port@bus,... flags master ping pong epoch link slots...
struct NodeLine {
  int bus_port = 0;
  std::string epoch{};
  std::vector<std::string> slots{};
};

NodeLine parse_node_line(const std::string& line) {
  std::istringstream words(line);
  std::string address;
  std::string skipped;
  words >> skipped >> address;
  for (int i = 0; i < 4; ++i) words >> skipped;
  NodeLine node{std::stoi(address.substr(address.find('@') + 1))};
  words >> node.epoch >> skipped;
  for (std::string slots; words >> slots;) node.slots.push_back(slots);
  return node;
}

// "5461-10922" or "5461"; moving slots are in brackets.
bool has_slot(const NodeLine& node, std::size_t slot) {
  return std::any_of(node.slots.begin(), node.slots.end(), [slot](const std::string& range) {
    if (range.starts_with('[')) return false;
    const std::size_t first = std::stoul(range);
    const std::size_t dash = range.find('-');
    return first <= slot && slot <= (dash == std::string::npos ? first : std::stoul(range.substr(dash + 1)));
  });
}

// The line of the slot's master, as the witness sees it.
NodeLine owner_of(std::size_t slot, const RedisServer& witness) {
  std::istringstream lines(witness.text("CLUSTER NODES"));
  for (std::string line; std::getline(lines, line);) {
    NodeLine node = parse_node_line(line);
    if (has_slot(node, slot)) return node;
  }
  throw std::runtime_error("Redis Cluster: nobody has slot " + std::to_string(slot));
}

}  // namespace

RedisCluster::RedisCluster(const std::vector<std::string>& options) : RedisCluster(Launched(), options) {
  form();
}

std::unique_ptr<RedisCluster> RedisCluster::take() {
  static std::unique_ptr<RedisCluster> next;
  std::unique_ptr<RedisCluster> taken = std::move(next);
  if (!taken) taken.reset(new RedisCluster(Launched(), {}));
  next.reset(new RedisCluster(Launched(), {}));
  taken->form();
  return taken;
}

RedisCluster::RedisCluster(Launched, const std::vector<std::string>& options) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    bus_ports_[i] = free_port();
    nodes_[i] = start_node(bus_ports_[i], options);
  }
  for (std::size_t i = 0; i < kMasters; ++i) {
    expect_ok(*nodes_[i], "CLUSTER ADDSLOTSRANGE " + std::to_string(i * kSlots / kMasters) + " " +
                              std::to_string((i + 1) * kSlots / kMasters - 1));
    expect_ok(*nodes_[i], "CLUSTER SET-CONFIG-EPOCH " + std::to_string(i + 1));
  }
  meet();
}

// A node never meets itself: it would trust its own old packet, which says that it is a master, although it
// has become a replica since.
void RedisCluster::meet() const {
  for (const auto& node : nodes_) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (node == nodes_[i]) continue;
      expect_ok(*node, "CLUSTER MEET 127.0.0.1 " + std::to_string(nodes_[i]->port()) + " " +
                           std::to_string(bus_ports_[i]));
    }
  }
}

// A node forgets another that it has met if that one does not answer within a second.
void RedisCluster::form() {
  constexpr int kLooksBetweenMeetings = 300;
  int looks = 0;
  for (std::size_t i = 0; i < kMasters; ++i) {
    const std::string master = nodes_[i]->text("CLUSTER MYID");
    wait_until("replica", [&] {
      if (++looks % kLooksBetweenMeetings == 0) meet();
      return nodes_[i + kMasters]->command("CLUSTER REPLICATE " + master) == "+OK";
    });
  }
  while_they_talk([&] {
    wait_until("state that is ok", [&] {
      if (++looks % kLooksBetweenMeetings == 0) meet();
      return is_ok();
    });
  });
  for (std::size_t i = 0; i < kMasters; ++i) nodes_[i]->flush_with_replicas();
}

std::string RedisCluster::url() const {
  std::string url = nodes_[0]->scheme() + "-cluster://";
  for (const auto& node : nodes_) {
    url.append(node == nodes_[0] ? "" : ",").append(node->address());
  }
  return url;
}

RedisServer& RedisCluster::replica_of(const RedisServer& master) {
  const auto found = std::ranges::find(nodes_, &master, &std::unique_ptr<RedisServer>::get);
  return *nodes_.at(static_cast<std::size_t>(found - nodes_.begin()) + kMasters);
}

RedisServer& RedisCluster::master_of(std::size_t slot) {
  return master_of(slot, **std::find_if(nodes_.begin(), nodes_.end(), lives));
}

void RedisCluster::wait_until_all_know(const RedisServer& master, std::size_t slot) {
  while_they_talk([&] {
    wait_until("agreement", [&] {
      const NodeLine wanted = owner_of(slot, master);
      return &master_of(slot, master) == &master &&
             std::all_of(nodes_.begin(), nodes_.end(), [&](const auto& node) {
               if (!lives(node)) return true;
               const NodeLine known = owner_of(slot, *node);
               return known.bus_port == wanted.bus_port && known.epoch == wanted.epoch;
             });
    });
  });
}

void RedisCluster::set_node_timeout(const std::string& milliseconds) const {
  for (const auto& node : nodes_) {
    if (lives(node)) expect_ok(*node, "CONFIG SET cluster-node-timeout " + milliseconds);
  }
}

void RedisCluster::notice_losses_soon() {
  set_node_timeout(kShortTimeout);
}

// Nodes that counted as lost meanwhile must be found again first: with the long timeout they would not be.
template <typename Work>
void RedisCluster::while_they_talk(const Work& work) {
  set_node_timeout(kShortTimeout);
  work();
  for (;;) {
    wait_until("state that is ok", [this] { return is_ok(); });
    set_node_timeout(kLongTimeout);
    if (is_ok()) return;
    set_node_timeout(kShortTimeout);
  }
}

void RedisCluster::replace_when_missed(const RedisServer& master) {
  const RedisServer& replica = replica_of(master);
  std::vector<const RedisServer*> others;
  for (const auto& node : nodes_) {
    if (node.get() != &master && lives(node)) others.push_back(node.get());
  }
  const auto questions = [others] {
    int sum = 0;
    for (const RedisServer* node : others) sum += calls_of(*node, "cluster|slots");
    return sum;
  };
  successor_.emplace([&replica, questions, before = questions()](const std::stop_token& stop) {
    while (questions() == before) {
      if (stop.stop_requested()) return;
      std::this_thread::sleep_for(kBetweenLooks);
    }
    replica.command("CLUSTER FAILOVER TAKEOVER");
  });
}

void RedisCluster::wait_until_replicas_are_named() {
  const std::string count_without =
      "EVAL \"local n = 0 for _, range in ipairs(redis.call('CLUSTER', 'SLOTS')) do if #range < 4 then n = n "
      "+ 1 "
      "end end return n\" 0";
  while_they_talk([&] {
    wait_until("replica that is named", [&] {
      return std::all_of(nodes_.begin(), nodes_.end(),
                         [&](const auto& node) { return node->command(count_without) == ":0"; });
    });
  });
}

RedisServer& RedisCluster::master_of(std::size_t slot, const RedisServer& witness) {
  const int bus_port = owner_of(slot, witness).bus_port;
  const auto found = std::ranges::find(bus_ports_, bus_port);
  if (found == bus_ports_.end()) {
    throw std::runtime_error("Redis Cluster: no node at " + std::to_string(bus_port));
  }
  return *nodes_.at(static_cast<std::size_t>(found - bus_ports_.begin()));
}

void RedisCluster::flush() {
  for (std::size_t i = 0; i < kMasters; ++i) master_of(i * kSlots / kMasters).command("FLUSHALL");
}

bool RedisCluster::is_ok() {
  for (const auto& node : nodes_) {
    if (!lives(node)) continue;
    if (node->text("CLUSTER INFO").find("cluster_state:ok") == std::string::npos) return false;
  }
  for (std::size_t i = 0; i < kMasters; ++i) {
    if (master_of(i * kSlots / kMasters).pid() < 0) return false;
  }
  return true;
}

RedisCluster& shared_redis_cluster() {
  static RedisCluster cluster;
  return cluster;
}

RedisCluster& shared_redis_cluster_over_tls() {
  static RedisCluster cluster(with_tls());
  return cluster;
}

}  // namespace keysieve::test
