// A server on a loopback port that answers each request with the same bytes, whatever its protocol says, and
// hangs up. For answers that no real server gives.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/support/server_process.hpp"

namespace keysieve::test {

class CannedServer {
 public:
  // `end` ends a request.
  CannedServer(std::string end, std::string answer) : end_(std::move(end)), answer_(std::move(answer)) {
    if (::listen(listening_.get(), SOMAXCONN) != 0) throw std::runtime_error("cannot listen");
    thread_ = std::thread([this] { serve(); });
  }
  CannedServer(const CannedServer&) = delete;
  CannedServer& operator=(const CannedServer&) = delete;
  ~CannedServer() {
    ::shutdown(listening_.get(), SHUT_RDWR);
    thread_.join();
  }

  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_of(listening_)); }
  [[nodiscard]] std::string last_request() const {
    const std::lock_guard lock(mutex_);
    return last_request_;
  }

 private:
  void serve() {
    for (;;) {
      const FileDescriptor client(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client.is_open()) return;
      std::string request;
      std::array<char, 4096> buffer;
      while (request.find(end_) == std::string::npos) {
        const ssize_t size = ::read(client.get(), buffer.data(), buffer.size());
        if (size <= 0) break;
        request.append(buffer.data(), static_cast<std::size_t>(size));
      }
      {
        const std::lock_guard lock(mutex_);
        last_request_ = request;
      }
      ::send(client.get(), answer_.data(), answer_.size(), MSG_NOSIGNAL);
    }
  }

  std::string end_;
  std::string answer_;
  FileDescriptor listening_ = socket_at("0", ::bind);
  mutable std::mutex mutex_;
  std::string last_request_;
  std::thread thread_;
};

}  // namespace keysieve::test
