// A real redis-server for one test binary or one test: on a unix socket and a loopback port, in a temporary
// directory, gone when the object is. Used by the suites of stores, transfer and loader.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "core/worker/base/file_descriptor.hpp"
#include "tests/support/server_process.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {

class RedisServer {
 public:
  // Takes further command-line options of redis-server, for example {"--requirepass", "secret"}, and the
  // text of its configuration file, which a sentinel needs. Returns when the server accepts connections.
  explicit RedisServer(std::vector<std::string> options = {}, const std::string& configuration = "");
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  ~RedisServer() { kill(); }

  // Ends it as a crash would, and waits for its end. start() brings it back, empty, at the same addresses.
  void kill();
  void start();

  // Sends one inline command, for example FLUSHALL, over the unix socket; returns the first line of the
  // reply.
  std::string command(const std::string& line) const;
  // The same, for a reply of several lines, for example that of INFO.
  std::string text(const std::string& line) const;
  // The whole reply as it was sent, whatever its type.
  std::string reply(const std::string& line) const;

  // For connections that begin later: the certificate of that name, and whether clients must show one.
  void show_certificate(const std::string& name, bool asks_clients = false) const;

  // Empties it. Returns when `count` replicas are empty too and are sent every write from now on.
  void flush_with_replicas(std::size_t count = 1) const;
  // Returns when `count` replicas have everything that any client has written so far.
  void wait_for_replicas(std::size_t count) const;

  [[nodiscard]] bool is_encrypted() const;
  // "redis" or "rediss".
  [[nodiscard]] std::string scheme() const { return is_encrypted() ? "rediss" : "redis"; }
  [[nodiscard]] int port() const noexcept { return port_; }
  [[nodiscard]] pid_t pid() const noexcept { return process_.pid(); }
  [[nodiscard]] std::string socket_path() const { return directory_ / "redis.sock"; }
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  // `login`: "user:password@" or nothing.
  [[nodiscard]] std::string tcp_url(const std::string& login = "") const {
    return scheme() + "://" + login + address();
  }
  [[nodiscard]] std::string unix_url() const { return "redis+unix://" + socket_path(); }

 private:
  void write_with_replicas(const FileDescriptor& client, const std::string& line, std::size_t count) const;

  TemporaryDirectory directory_{fast_folder()};  // a node that waits for a disk counts as lost
  std::vector<std::string> options_;
  int port_ = 0;
  ServerProcess process_;
};

// The options of a server that takes nothing but TLS, except over its unix socket, and talks so to others. It
// has the certificate of that name of shared_certificates().
std::vector<std::string> with_tls(const std::string& certificate = "server");

// The options of a server that is this one's replica.
std::vector<std::string> following(const RedisServer& master);

// The number behind that name in INFO's section; 0 when it is missing.
std::uint64_t info_of(const RedisServer& server, const std::string& section, const std::string& name);
// How often the server has carried out the command; its name is in lower case.
int calls_of(const RedisServer& server, const std::string& command);

// The servers of this test binary, started by the first case that asks for them.
RedisServer& shared_redis();
RedisServer& shared_redis_over_tls();

// Tests writes whose replica is missing without waiting for it: until the object is gone, ends every WAIT
// that the server holds, as the server does when its time is over. So suites can use a timeout that is long
// enough for a busy machine.
class WaitsCutShort {
 public:
  // Ends each WAIT once `replicas` replicas have the writes before it.
  explicit WaitsCutShort(const RedisServer& server, std::size_t replicas = 0);

 private:
  std::jthread thread_;
};

// A real Redis Sentinel on loopback: a master that sentinels watch.
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

// A real Redis Cluster on loopback: three masters, each with a replica, for one test or one test binary. No
// server counts as lost because the machine is slow: a test says when a replica takes over.
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
