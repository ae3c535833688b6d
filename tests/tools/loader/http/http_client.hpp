// An HTTP client that can be as slow and as rude as a test wants it.
#pragma once

#include <string>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve::test {

// To a unix socket.
class HttpConnection {
 public:
  // Throws std::runtime_error when nobody listens there.
  explicit HttpConnection(const std::string& socket_path);

  // False: the other side has closed it.
  bool send(const std::string& text) const;
  // Everything until the other side closes it.
  [[nodiscard]] std::string read_all() const;
  // Whether the other side has closed it; does not wait.
  [[nodiscard]] bool is_closed() const;

 private:
  FileDescriptor file_;
};

struct HttpReply {
  int status = 0;  // 0: there was no answer
  std::string head;
  std::string body;
};

HttpReply ask(const std::string& socket_path, const std::string& path, const std::string& method = "GET");

}  // namespace keysieve::test
