// A real redis-server for one test binary or one test: on a unix socket and a loopback port, in a temporary
// directory, gone when the object is. Used by the suites of stores, transfer and loader.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "core/base/file_descriptor.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {

class RedisServer {
 public:
  // Further command-line options of redis-server, for example {"--requirepass", "secret"}, and what stands in
  // its configuration file, which a sentinel needs. Returns when the server accepts connections.
  explicit RedisServer(std::vector<std::string> options = {}, const std::string& configuration = "");
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  ~RedisServer() { kill(); }

  // Ends it as a crash would, and waits for its end. start() brings it back, empty, at the same addresses.
  void kill();
  void start();

  // Sends one inline command, as ACL SETUSER or FLUSHALL, over the unix socket; the first line of the reply.
  std::string command(const std::string& line) const;
  // The same, for a reply that is a text of several lines, as that of INFO.
  std::string text(const std::string& line) const;
  // The whole reply as it was sent, whatever its type.
  std::string reply(const std::string& line) const;

  // Empties it. Returns when its replicas, so many, have done so too and are sent all that is written from
  // now on.
  void flush_with_replicas(std::size_t count = 1) const;
  // Returns when so many replicas have all that was written so far, by any client.
  void wait_for_replicas(std::size_t count) const;

  [[nodiscard]] int port() const noexcept { return port_; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] std::string socket_path() const { return directory_ / "redis.sock"; }
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  // `login`: "user:password@" or nothing.
  [[nodiscard]] std::string tcp_url(const std::string& login = "") const {
    return "redis://" + login + address();
  }
  [[nodiscard]] std::string unix_url() const { return "redis+unix://" + socket_path(); }

 private:
  void wait_until_it_accepts();
  void write_with_replicas(const FileDescriptor& client, const std::string& line, std::size_t count) const;

  TemporaryDirectory directory_{fast_folder()};  // a node that waits for a disk is taken for lost
  std::vector<std::string> options_;
  int port_ = 0;
  pid_t pid_ = -1;
};

// The options of a server that is this one's replica.
std::vector<std::string> following(const RedisServer& master);

// The number behind that name in INFO's section; 0 when it is not there.
std::uint64_t info_of(const RedisServer& server, const std::string& section, const std::string& name);
// How often the server has carried out that command, in lower case.
int calls_of(const RedisServer& server, const std::string& command);

// The one of this test binary, started by the first case that asks for it.
RedisServer& shared_redis();

// Replicas that are waited for in vain, without the waiting: ends every WAIT that the server holds, as the
// server does when its time has passed, until the object is gone. What suites allow a write whose replica is
// missing can then be as long as a busy machine needs for all that must not fail.
class WaitsCutShort {
 public:
  // Each once so many replicas have what was written before it.
  explicit WaitsCutShort(const RedisServer& server, std::size_t replicas = 0);

 private:
  std::jthread thread_;
};

}  // namespace keysieve::test
