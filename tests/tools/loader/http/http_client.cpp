#include "tests/tools/loader/http/http_client.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <stdexcept>

namespace keysieve::test {

HttpConnection::HttpConnection(const std::string& socket_path)
    : file_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  if (::connect(file_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    throw std::runtime_error(socket_path + ": nobody listens");
  }
}

bool HttpConnection::send(const std::string& text) const {
  return ::send(file_.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

std::string HttpConnection::read_all() const {
  std::string all;
  std::array<char, 65536> some{};
  for (;;) {
    const ssize_t count = ::recv(file_.get(), some.data(), some.size(), 0);
    if (count <= 0) return all;
    all.append(some.data(), static_cast<std::size_t>(count));
  }
}

bool HttpConnection::is_closed() const {
  char byte = 0;
  return ::recv(file_.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

HttpReply ask(const std::string& socket_path, const std::string& path, const std::string& method) {
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

}  // namespace keysieve::test
