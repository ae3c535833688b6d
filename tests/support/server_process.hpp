// A server that a test starts: one process, with what it says in a file, gone when the object is.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "core/worker/base/file_descriptor.hpp"
#include "tests/support/run_program.hpp"

namespace keysieve::test {

// The result is not open when no server listens there.
FileDescriptor connect_to(const std::string& socket_path);
FileDescriptor connect_to(int port);
// Reads a line up to its line feed, without that and the carriage return before.
std::string read_line(const FileDescriptor& client);

class ServerProcess {
 public:
  ServerProcess() = default;
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess() { kill(); }

  // Returns when `accepts` does. Throws std::runtime_error if the server ends before, or does not accept
  // connections within kDeadline.
  void start(const ProgramCall& call, const std::string& log_path, const std::function<bool()>& accepts);
  // Ends it as a crash would, and waits for its end.
  void kill();
  // Lets it answer nothing, while its connections stay open.
  void stall() const;
  void resume() const;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  pid_t pid_ = -1;
};

// Calls start(port) with free ports until one works: another process may take the port in between. Returns
// the port.
int start_at_free_port(const std::function<void(int port)>& start);

// A port for a server that a test starts.

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
