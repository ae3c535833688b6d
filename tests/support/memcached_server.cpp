#include "tests/support/memcached_server.hpp"

#include "core/builder/base/file_io.hpp"

#include <stdexcept>

namespace keysieve::test {

MemcachedServer::MemcachedServer(std::vector<std::string> options, At at)
    : options_(std::move(options)), at_(at) {
  if (at_ == At::UnixSocket) {
    start();
    return;
  }
  port_ = start_at_free_port([this](int port) {
    port_ = port;
    start();
  });
}

void MemcachedServer::start() {
  // With its other kind of LRU, flush_all of 1.6.38 leaves records that were read in the same second.
  ProgramCall call{
      .program = "memcached",
      .arguments = {"-u", "root", "-U", "0", "-t", "1", "-m", "2048", "-o", "no_lru_maintainer"}};
  if (at_ == At::UnixSocket) {
    call.arguments.insert(call.arguments.end(), {"-s", socket_path()});
  } else {
    call.arguments.insert(call.arguments.end(), {"-l", "127.0.0.1", "-p", std::to_string(port_)});
  }
  call.arguments.insert(call.arguments.end(), options_.begin(), options_.end());
  process_.start(call, directory_ / "log", [this] { return connect().is_open(); });
}

std::string MemcachedServer::command(const std::string& line, const std::optional<std::string>& block) const {
  const FileDescriptor client = connect();
  write_all(client, as_bytes(line + "\r\n" + (block ? *block + "\r\n" : "")), url());
  return read_line(client);
}

void MemcachedServer::set(const std::string& key, const std::string& bytes) const {
  const std::string reply = command("set " + key + " 0 0 " + std::to_string(bytes.size()), bytes);
  if (reply != "STORED") throw std::runtime_error(url() + ": " + key + ": " + reply);
}

void MemcachedServer::flush() const {
  if (const std::string reply = command("flush_all"); reply != "OK") {
    throw std::runtime_error(url() + ": flush_all: " + reply);
  }
}

std::uint64_t MemcachedServer::statistic(const std::string& name) const {
  const FileDescriptor client = connect();
  write_all(client, as_bytes(std::string_view("stats\r\n")), url());
  for (std::string line = read_line(client); !line.empty() && line != "END"; line = read_line(client)) {
    if (line.starts_with("STAT " + name + " ")) return std::stoull(line.substr(line.rfind(' ')));
  }
  return 0;
}

MemcachedServer& shared_memcached() {
  static MemcachedServer server;
  return server;
}

MemcachedPair& shared_memcached_pair() {
  static MemcachedPair pair;
  return pair;
}

}  // namespace keysieve::test
