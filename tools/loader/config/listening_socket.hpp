// The socket where keysieved answers HTTP: "127.0.0.1:9427", "[::1]:9427" or
// "unix:/run/keysieve/status.sock".
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve {

// Returns the address; throws Usage, which says what is accepted. Does not ask a name server.
std::string checked_listen_address(const std::string& address);

// A non-blocking socket that listens. A unix socket is also open to its group, and is removed with this
// object.
class ListeningSocket {
 public:
  // Throws CannotCreate (also when the path is not a socket), Permission, and Locked when another process
  // answers there.
  ListeningSocket(const std::string& address, std::optional<gid_t> group);
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;
  ~ListeningSocket();

  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }

 private:
  void listen_at_path(const std::string& path, std::optional<gid_t> group);
  void listen_at_host(const std::string& address);

  FileDescriptor file_;
  std::string path_;  // of a unix socket
};

}  // namespace keysieve
