// A real redis-server for one test binary or one test: on a unix socket and a loopback port, in a temporary
// directory, gone when the object is. Used by the suites of stores, transfer and loader.
#pragma once

#include <sys/types.h>

#include <cstdint>
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

}  // namespace keysieve::test
