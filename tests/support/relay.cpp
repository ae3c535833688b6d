#include "tests/support/relay.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <vector>

#include "core/base/file_descriptor.hpp"
#include "tests/support/forked.hpp"

namespace keysieve::test {
namespace {

struct Connection {
  FileDescriptor client;
  FileDescriptor server;
};

template <typename Use>
FileDescriptor socket_at(const std::string& path, Use use) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  FileDescriptor opened(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (use(opened.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) opened.close();
  return opened;
}

// False when that side has ended.
bool pass_on(const FileDescriptor& from, const FileDescriptor& to) {
  std::array<char, 65536> buffer;
  const ssize_t size = ::read(from.get(), buffer.data(), buffer.size());
  for (ssize_t done = 0; done < size;) {
    const ssize_t sent =
        ::send(to.get(), buffer.data() + done, static_cast<std::size_t>(size - done), MSG_NOSIGNAL);
    if (sent < 0) return false;
    done += sent;
  }
  return size > 0;
}

// Returns never: the process is killed.
[[noreturn]] void pass_everything_on(const FileDescriptor& listening, const std::string& target) {
  std::vector<Connection> connections;
  for (;;) {
    std::vector<pollfd> waiting{{listening.get(), POLLIN, 0}};
    for (const Connection& connection : connections) {
      waiting.push_back({connection.client.get(), POLLIN, 0});
      waiting.push_back({connection.server.get(), POLLIN, 0});
    }
    ::poll(waiting.data(), waiting.size(), -1);
    std::vector<Connection> open;
    for (std::size_t i = 0; i < connections.size(); ++i) {
      Connection& connection = connections[i];
      const bool from_client = waiting[1 + 2 * i].revents != 0;
      const bool from_server = waiting[2 + 2 * i].revents != 0;
      if (from_client && !pass_on(connection.client, connection.server)) continue;
      if (from_server && !pass_on(connection.server, connection.client)) continue;
      open.push_back(std::move(connection));
    }
    connections = std::move(open);
    if (waiting[0].revents == 0) continue;
    FileDescriptor client(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    FileDescriptor server = socket_at(target, ::connect);
    if (client.is_open() && server.is_open()) connections.push_back({std::move(client), std::move(server)});
  }
}

}  // namespace

Relay::Relay(std::string path, std::string target) : path_(std::move(path)), target_(std::move(target)) {
  start();
}

void Relay::start() {
  ::unlink(path_.c_str());
  const FileDescriptor listening = socket_at(path_, ::bind);
  if (!listening.is_open() || ::listen(listening.get(), SOMAXCONN) != 0) {
    throw std::runtime_error("cannot listen at " + path_);
  }
  pid_ = start_process([&]() -> int { pass_everything_on(listening, target_); });
}

void Relay::hang_up() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  wait_for(pid_);
  ::unlink(path_.c_str());
  pid_ = -1;
}

}  // namespace keysieve::test
