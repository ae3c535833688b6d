#include "tests/support/redis_server.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "core/builder/base/file_io.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/forked.hpp"

namespace keysieve::test {

RedisServer::RedisServer(std::vector<std::string> options, const std::string& configuration)
    : options_(std::move(options)) {
  std::ofstream(directory_ / "redis.conf") << configuration;
  port_ = start_at_free_port([this](int port) {
    port_ = port;
    start();
  });
}

void RedisServer::start() {
  ProgramCall call{.program = "redis-server"};
  call.arguments = {directory_ / "redis.conf", is_encrypted() ? "--tls-port" : "--port",
                    std::to_string(port_), "--bind", "127.0.0.1", "--unixsocket", socket_path(), "--dir",
                    directory_.path(), "--save", "", "--appendonly", "no", "--io-threads", "1",
                    // After a sync without a file the master sends a replica nothing for up to a second,
                    // though WAIT counts it.
                    "--repl-diskless-sync", "no", "--databases", "4"};
  call.arguments.insert(call.arguments.end(), options_.begin(), options_.end());
  // The socket comes first, the port of TLS last.
  process_.start(call, directory_ / "log", [this] {
    return connect_to(socket_path()).is_open() && (!is_encrypted() || connect_to(port_).is_open());
  });
}

std::string RedisServer::command(const std::string& line) const {
  const FileDescriptor client = connect_to(socket_path());
  write_all(client, as_bytes(line + "\r\n"), socket_path());
  return read_line(client);
}

std::string RedisServer::text(const std::string& line) const {
  const std::string whole = reply(line);  // "$", a number, and a text of so many bytes
  if (!whole.starts_with('$')) throw std::runtime_error(line + ": " + whole);
  return whole.substr(whole.find('\n') + 1, std::stoul(whole.substr(1)));
}

std::string RedisServer::reply(const std::string& line) const {
  constexpr std::string_view kEnd = "+PONG\r\n";
  const FileDescriptor client = connect_to(socket_path());
  write_all(client, as_bytes(line + "\r\nPING\r\n"), socket_path());
  std::string all;
  std::array<char, 4096> buffer;
  while (!all.ends_with(kEnd)) {
    const ssize_t count = ::read(client.get(), buffer.data(), buffer.size());
    if (count <= 0) throw std::runtime_error(line + ": the reply ends early");
    all.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return all.substr(0, all.size() - kEnd.size());
}

// Flushes twice: WAIT counts a replica as soon as it has connected. Uses one connection: WAIT waits only
// for writes over its own.
void RedisServer::flush_with_replicas(std::size_t count) const {
  const FileDescriptor client = connect_to(socket_path());
  for (int times = 0; times < 2; ++times) {
    write_with_replicas(client, "FLUSHALL", count);
  }
}

// WAIT covers only the writes of its own connection. So it follows a write that changes nothing, which
// comes after all others and which any server of a cluster takes.
void RedisServer::wait_for_replicas(std::size_t count) const {
  write_with_replicas(connect_to(socket_path()), "FUNCTION FLUSH", count);
}

void RedisServer::write_with_replicas(const FileDescriptor& client, const std::string& line,
                                      std::size_t count) const {
  write_all(client, as_bytes(line + "\r\nWAIT " + std::to_string(count) + " 120000\r\n"), socket_path());
  const std::string written = read_line(client);
  const std::string replicas = read_line(client);
  if (written != "+OK" || replicas.size() < 2 || std::stoul(replicas.substr(1)) < count)
    throw std::runtime_error("too few replicas: " + written + " " + replicas);
}

void RedisServer::show_certificate(const std::string& name, bool asks_clients) const {
  const std::string set = "CONFIG SET tls-cert-file " + shared_certificates().path(name + ".crt") +
                          " tls-key-file " + shared_certificates().path(name + ".key") +
                          " tls-auth-clients " + (asks_clients ? "yes" : "no");
  if (const std::string answer = command(set); answer != "+OK") throw std::runtime_error(set + ": " + answer);
}

bool RedisServer::is_encrypted() const {
  return std::ranges::find(options_, "--tls-cert-file") != options_.end();
}

void RedisServer::kill() {
  process_.kill();
  ::unlink(socket_path().c_str());
}

std::vector<std::string> with_tls(const std::string& certificate) {
  const Certificates& certificates = shared_certificates();
  return {"--tls-cert-file",
          certificates.path(certificate + ".crt"),
          "--tls-key-file",
          certificates.path(certificate + ".key"),
          "--tls-ca-cert-file",
          certificates.path("ca.crt"),
          "--tls-auth-clients",
          "no",
          "--tls-replication",
          "yes",
          "--tls-cluster",
          "yes",
          "--port",
          "0"};
}

std::vector<std::string> following(const RedisServer& master) {
  return {"--replicaof", "127.0.0.1", std::to_string(master.port())};
}

std::uint64_t info_of(const RedisServer& server, const std::string& section, const std::string& name) {
  const std::string facts = server.text("INFO " + section);
  const std::size_t at = facts.find("\n" + name);
  return at == std::string::npos ? 0 : std::stoull(facts.substr(at + 1 + name.size()));
}

int calls_of(const RedisServer& server, const std::string& command) {
  return static_cast<int>(info_of(server, "commandstats", "cmdstat_" + command + ":calls="));
}

namespace {

// "id=7 addr=... flags=b ... cmd=wait ..."
void end_waits(const RedisServer& server, std::size_t replicas) {
  std::istringstream clients(server.text("CLIENT LIST"));
  for (std::string client; std::getline(clients, client);) {
    if (client.find(" cmd=wait ") == std::string::npos) continue;
    if (replicas > 0) server.wait_for_replicas(replicas);
    const std::string id = client.substr(3, client.find(' ') - 3);
    server.command("CLIENT UNBLOCK " + id + " TIMEOUT");
  }
}

}  // namespace

WaitsCutShort::WaitsCutShort(const RedisServer& server, std::size_t replicas)
    : thread_([&server, replicas](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          end_waits(server, replicas);
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      }) {}

RedisServer& shared_redis() {
  static RedisServer server;
  return server;
}

RedisServer& shared_redis_over_tls() {
  static RedisServer server(with_tls());
  return server;
}

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
