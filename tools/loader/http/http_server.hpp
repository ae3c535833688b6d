// Answers GET and HEAD in a thread of libmicrohttpd. Whatever its clients do, it takes no more than some
// connections, some memory and that thread, and a client finds a connection: the oldest one ends for it. Each
// request has a connection of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/loader/config/listening_socket.hpp"

struct MHD_Connection;
struct MHD_Daemon;

namespace keysieve {

struct HttpAnswer {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};
};

// Answers a path, such as "/status.json". Called in the server's thread; an exception becomes status 500.
using AnswerPath = std::function<HttpAnswer(std::string_view path)>;

class HttpServer {
 public:
  // Throws as a ListeningSocket does.
  HttpServer(const std::string& address, std::optional<gid_t> group, AnswerPath answer);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer() = default;  // waits for no client

  static constexpr unsigned kMostConnections = 64;
  static constexpr std::size_t kMostBytesPerConnection = 32768;  // headers of a request and of its answer

 private:
  struct Callbacks;  // what libmicrohttpd calls
  [[nodiscard]] HttpAnswer answer(std::string_view method, std::string_view path) const;

  AnswerPath answer_;
  ListeningSocket socket_;
  std::vector<std::pair<MHD_Connection*, int>> open_;  // and their descriptors, the oldest first
  std::unique_ptr<MHD_Daemon, void (*)(MHD_Daemon*)> daemon_;
};

}  // namespace keysieve
