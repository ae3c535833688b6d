// A real memcached for one test binary or one test: on a unix socket or a loopback port, gone when the object
// is. Used by the suites of stores, transfer and loader.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/support/server_process.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {

class MemcachedServer {
 public:
  enum class At { UnixSocket, LoopbackPort };

  // Takes further command-line options, for example {"-m", "2"} for 2 MiB; without that one it has room for
  // the largest snapshot of the tests. Returns when it accepts connections.
  explicit MemcachedServer(std::vector<std::string> options = {}, At at = At::UnixSocket);

  // Empty again after kill() and start(), at the same address.
  void kill() { process_.kill(); }
  void start();
  [[nodiscard]] const ServerProcess& process() const noexcept { return process_; }

  // Sends one line, and a block of data if there is one. Returns the first line of the reply.
  std::string command(const std::string& line, const std::optional<std::string>& block = {}) const;
  // As a client of another kind would: exactly these bytes.
  void set(const std::string& key, const std::string& bytes) const;
  void flush() const;
  // A value of the command "stats"; 0 if it has none of that name.
  [[nodiscard]] std::uint64_t statistic(const std::string& name) const;

  [[nodiscard]] std::string socket_path() const { return directory_ / "memcached.sock"; }
  // "127.0.0.1:port"
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::string url() const {
    return at_ == At::UnixSocket ? "memcached+unix://" + socket_path() : "memcached://" + address();
  }

 private:
  [[nodiscard]] FileDescriptor connect() const {
    return at_ == At::UnixSocket ? connect_to(socket_path()) : connect_to(port_);
  }

  TemporaryDirectory directory_{fast_folder()};
  std::vector<std::string> options_;
  At at_;
  int port_ = 0;
  ServerProcess process_;
};

// The server of this test binary, started by the first case that asks for it.
MemcachedServer& shared_memcached();
// Two of them, and the URL that spreads records over both.
struct MemcachedPair {
  MemcachedServer first{{}, MemcachedServer::At::LoopbackPort};
  MemcachedServer second{{}, MemcachedServer::At::LoopbackPort};

  [[nodiscard]] std::string url() const { return first.url() + "," + second.address(); }
  void flush() const {
    first.flush();
    second.flush();
  }
};
MemcachedPair& shared_memcached_pair();

}  // namespace keysieve::test
