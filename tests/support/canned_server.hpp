// A server on a loopback port that answers each request with the same bytes, whatever its protocol says, and
// hangs up. For answers that no real server gives.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve::test {

class CannedServer {
 public:
  // `end` ends a request.
  CannedServer(std::string end, std::string answer) : end_(std::move(end)), answer_(std::move(answer)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listening_.get(), generic, size) != 0 || ::listen(listening_.get(), SOMAXCONN) != 0 ||
        ::getsockname(listening_.get(), generic, &size) != 0) {
      throw std::runtime_error("cannot listen");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  CannedServer(const CannedServer&) = delete;
  CannedServer& operator=(const CannedServer&) = delete;
  ~CannedServer() {
    ::shutdown(listening_.get(), SHUT_RDWR);
    thread_.join();
  }

  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
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
  FileDescriptor listening_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  int port_ = 0;
  mutable std::mutex mutex_;
  std::string last_request_;
  std::thread thread_;
};

}  // namespace keysieve::test
