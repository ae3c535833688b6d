// Answers GET and HEAD in a thread of its own, by libmicrohttpd. Whatever its clients do, it takes no more
// than some connections, some memory and that thread; each request has a connection of its own.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
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
  static constexpr std::chrono::seconds kLongestConnection{10};

  // Throws as a ListeningSocket does. `longest_connection`: from accept to the last byte.
  HttpServer(const std::string& address, std::optional<gid_t> group, AnswerPath answer,
             std::chrono::milliseconds longest_connection = kLongestConnection);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  // Waits for no client.
  ~HttpServer();

  static constexpr unsigned kMostConnections = 64;
  static constexpr std::size_t kMostBytesPerConnection = 32768;  // headers of a request and of its answer

 private:
  struct Callbacks;  // what libmicrohttpd calls
  struct Stop {
    void operator()(MHD_Daemon* daemon) const noexcept;
  };
  struct OpenConnection {
    int descriptor;
    std::chrono::steady_clock::time_point since;
  };

  void serve();
  void run();
  void wait() const;
  void end_old_connections();
  [[nodiscard]] HttpAnswer answer(std::string_view method, std::string_view path) const;

  AnswerPath answer_;
  std::chrono::milliseconds longest_connection_;
  ListeningSocket socket_;
  FileDescriptor stop_;  // an eventfd, readable when the thread shall end
  std::map<MHD_Connection*, OpenConnection> connections_;
  std::unique_ptr<MHD_Daemon, Stop> daemon_;
  std::thread thread_;
};

}  // namespace keysieve
