#include "tests/support/relay.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/worker/base/file_descriptor.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/server_process.hpp"

namespace keysieve::test {
namespace {

struct Connection {
  FileDescriptor client;
  FileDescriptor server;
};

bool is_path(const std::string& address) {
  return address.starts_with('/');
}

bool send_all(const FileDescriptor& to, const char* data, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t sent = ::send(to.get(), data + done, size - done, MSG_NOSIGNAL);
    if (sent < 0) return false;
    done += static_cast<std::size_t>(sent);
  }
  return true;
}

class Passage {
 public:
  Passage(const std::optional<RelayCut>& cut, std::atomic<bool>& was_cut)
      : left_(cut ? cut->after_bytes : UINT64_MAX),
        how_(cut ? cut->how : RelayCut::How::HangUp),
        was_cut_(was_cut) {}

  // False when that side has ended.
  bool pass_on(const FileDescriptor& from, const FileDescriptor& to) {
    std::string bytes(was_cut_ ? 1 : kBufferBytes, '\0');
    const ssize_t size = ::read(from.get(), bytes.data(), bytes.size());
    if (size <= 0) return false;
    bytes.resize(static_cast<std::size_t>(size));
    if (was_cut_) std::this_thread::sleep_for(kDripInterval);
    const std::size_t some = std::min<std::uint64_t>(left_, bytes.size());
    if (!send_all(to, bytes.data(), some)) return false;
    left_ -= some;
    if (left_ == 0) cut();
    return send_all(to, bytes.data() + some, bytes.size() - some);
  }

 private:
  static constexpr std::chrono::milliseconds kDripInterval{10};
  static constexpr std::size_t kBufferBytes = 65536;

  void cut() {
    was_cut_ = true;
    left_ = UINT64_MAX;
    if (how_ == RelayCut::How::HangUp) ::_exit(0);
    while (how_ == RelayCut::How::Stall) ::pause();
  }

  std::uint64_t left_;
  RelayCut::How how_;
  std::atomic<bool>& was_cut_;
};

// Never returns: the process is killed.
[[noreturn]] void pass_everything_on(const FileDescriptor& listening, const std::string& target,
                                     Passage passage) {
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
      if (from_client && !passage.pass_on(connection.client, connection.server)) continue;
      if (from_server && !passage.pass_on(connection.server, connection.client)) continue;
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

Relay::Relay(std::string address, const std::string& target, std::optional<RelayCut> cut)
    : address_(std::move(address)) {
  if (is_path(address_)) ::unlink(address_.c_str());
  const FileDescriptor listening = socket_at(address_, ::bind);
  if (!listening.is_open() || ::listen(listening.get(), SOMAXCONN) != 0) {
    throw std::runtime_error("cannot listen at " + address_);
  }
  pid_ =
      start_process([&]() -> int { pass_everything_on(listening, target, Passage(cut, shared_->was_cut)); });
}

Relay::~Relay() {
  ::kill(pid_, SIGKILL);
  wait_for(pid_);
  if (is_path(address_)) ::unlink(address_.c_str());
}

}  // namespace keysieve::test
