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
  const FileDescriptor client = connect_to(socket_path());
  write_all(client, as_bytes(line + "\r\n"), socket_path());
  const std::string size = read_line(client);  // "$" and a number
  if (!size.starts_with('$')) throw std::runtime_error(line + ": " + size);
  std::string text(std::stoul(size.substr(1)), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::read(client.get(), text.data() + done, text.size() - done);
    if (count <= 0) throw std::runtime_error(line + ": the reply ends early");
    done += static_cast<std::size_t>(count);
  }
  return text;
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

}  // namespace keysieve::test
