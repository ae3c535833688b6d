// An HTTP client that can be as slow and as rude as a test wants it.
#pragma once

#include <sys/socket.h>

#include <array>
#include <stdexcept>
#include <string>

#include "tests/support/server_process.hpp"
#include "tests/tools/loader/keysieved_fixture.hpp"

namespace keysieve::test {

// To a unix socket.
class HttpConnection {
 public:
  // Throws std::runtime_error when nobody listens there.
  explicit HttpConnection(const std::string& socket_path) : file_(connect_to(socket_path)) {
    if (!file_.is_open()) throw std::runtime_error(socket_path + ": nobody listens");
  }

  // False: the other side has closed it.
  bool send(const std::string& text) const {
    return ::send(file_.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  // Everything until the other side closes it.
  [[nodiscard]] std::string read_all() const {
    std::string all;
    std::array<char, 65536> some{};
    for (;;) {
      const ssize_t count = ::recv(file_.get(), some.data(), some.size(), 0);
      if (count <= 0) return all;
      all.append(some.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  FileDescriptor file_;
};

struct HttpReply {
  int status = 0;  // 0: there was no answer
  std::string head;
  std::string body;
};

inline HttpReply ask(const std::string& socket_path, const std::string& path,
                     const std::string& method = "GET") {
  std::string all;
  try {
    const HttpConnection connection(socket_path);
    connection.send(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    all = connection.read_all();
  } catch (const std::runtime_error&) {
    return {};
  }
  const auto end = all.find("\r\n\r\n");
  if (end == std::string::npos || all.size() < 12) return {};
  return {.status = std::stoi(all.substr(9, 3)), .head = all.substr(0, end + 2), .body = all.substr(end + 4)};
}

// keysieved with its status served on a unix socket.
class KeysievedStatus : public Keysieved {
 protected:
  [[nodiscard]] std::string socket() const { return site_.root() / "status.sock"; }
  [[nodiscard]] std::string status_config() const { return "[status]\nlisten = \"unix:" + socket() + "\"\n"; }
  [[nodiscard]] HttpReply get(const std::string& path) const { return ask(socket(), path); }
  // The value of the only sample that begins so.
  [[nodiscard]] double value_of(const std::string& name) const {
    const std::string all = get("/metrics").body;
    const auto at = all.find("\n" + name + " ");
    return at == std::string::npos ? -1e9 : std::stod(all.substr(at + name.size() + 2));
  }
};

}  // namespace keysieve::test
