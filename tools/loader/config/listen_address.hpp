// Where keysieved answers HTTP: "127.0.0.1:9427", "[::1]:9427" or "unix:/run/keysieve/status.sock".
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "core/base/file_descriptor.hpp"

namespace keysieve {

// Returns the address; throws Usage that says what is accepted. Asks no name server.
std::string checked_listen_address(const std::string& address);

// A socket that waits for connections; it does not block. A unix socket is there for its group as well, and
// goes with this object.
class ListeningSocket {
 public:
  // Throws CannotCreate, also where something other than a socket is at that path, Permission;
  // Locked where another process answers there.
  ListeningSocket(const std::string& address, std::optional<gid_t> group);
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;
  ~ListeningSocket();

  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }

 private:
  void listen_at_path(std::optional<gid_t> group);
  void listen_at_host(const std::string& address);

  FileDescriptor file_;
  std::string path_;  // of a unix socket
};

}  // namespace keysieve
