// A server that a test starts: one process, with what it says in a file, gone when the object is.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <functional>
#include <string>

#include "core/worker/base/file_descriptor.hpp"
#include "tests/support/run_program.hpp"

namespace keysieve::test {

// A stream socket with an address that `use`, bind(2) or connect(2), gives it: the path of a unix socket, or
// a port of 127.0.0.1 (0: any). Not open if that fails.
FileDescriptor socket_at(const std::string& address, int (*use)(int, const sockaddr*, socklen_t));
// The port that such a socket has.
int port_of(const FileDescriptor& socket);
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

// Returns a port of 127.0.0.1 that is free at this moment.
int free_port();

}  // namespace keysieve::test
