// Connections to a server that lies. A client that connects gets a socket on which a part of the fuzz
// target's input has already been sent, and then the end. So a target needs no server, no thread and no
// address: it defines the function by which its client library connects, and that calls connect().
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/worker/base/error.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "tests/fuzz/check.hpp"

namespace keysieve::fuzz {

class CannedConnections {
 public:
  // Between what two connections get, one after the other. Not in any protocol.
  static constexpr char kSeparator = '\x1e';

  // What the next connections get. Further ones get nothing.
  void answer_with(std::string_view input) {
    left_ = input;
    servers_ends_.clear();
  }
  // How many there were since then.
  [[nodiscard]] std::size_t count() const noexcept { return servers_ends_.size(); }

  // The client's end, which the caller owns.
  int connect() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
    const FileDescriptor& servers_end = servers_ends_.emplace_back(ends[1]);
    const std::string_view part = left_.substr(0, left_.find(kSeparator));
    left_.remove_prefix(std::min(part.size() + 1, left_.size()));
    if (::send(servers_end.get(), part.data(), part.size(), MSG_DONTWAIT) !=
            static_cast<ssize_t>(part.size()) ||
        ::shutdown(servers_end.get(), SHUT_WR) != 0) {
      std::abort();
    }
    return ends[0];
  }

  // The same for a client that has made a socket already, as in connect(2).
  int connect(int socket) {
    const FileDescriptor end(connect());
    ::fcntl(end.get(), F_SETFL, ::fcntl(socket, F_GETFL));
    return ::dup2(end.get(), socket) == socket ? 0 : -1;
  }

 private:
  std::string_view left_;
  std::vector<FileDescriptor> servers_ends_;  // open until the end: the client may write
};

inline CannedConnections& canned_connections() {
  static CannedConnections connections;
  return connections;
}

// Runs `work`, which may end with an Error that names the store and gives a reason, but not with another
// exception. Returns whether it did not.
template <typename Work>
bool succeeds(std::string_view store_name, const Work& work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    const std::string_view message = error.what();
    check(error.kind() != ErrorKind::Usage && message.starts_with(store_name) &&
          message.size() > store_name.size() + std::string_view(": ").size());
    return false;
  }
}

}  // namespace keysieve::fuzz
