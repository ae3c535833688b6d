// A port for a server that a test starts.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <stdexcept>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve::test {

// Returns a port of 127.0.0.1 that is free at this moment. Throws std::runtime_error.
inline int free_port() {
  const FileDescriptor probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(probe.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("no free port");
  }
  return ntohs(address.sin_port);
}

}  // namespace keysieve::test
