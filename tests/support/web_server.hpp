// A real nginx on a loopback port, which shows the folders of a directory of its own; gone when the object
// is.
#pragma once

#include <string>
#include <vector>

#include "tests/support/server_process.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {

struct WebServerSettings {
  std::string listen{};      // what follows the address, for example "ssl http2"
  std::string directives{};  // of its server block
};

class WebServer {
 public:
  explicit WebServer(WebServerSettings settings = {});

  // What it answered is kept over kill() and start().
  void kill() { process_.kill(); }
  void start();
  [[nodiscard]] const ServerProcess& process() const noexcept { return process_; }
  // With another server block, at the same port.
  void restart(const std::string& directives);

  // A new folder of the server, and where it shows it.
  std::string make_folder(const std::string& name) const;
  [[nodiscard]] std::string folder(const std::string& name) const { return directory_ / ("www/" + name); }
  [[nodiscard]] std::string url(const std::string& name, const std::string& scheme = "http") const {
    return scheme + "://127.0.0.1:" + std::to_string(port_) + "/" + name;
  }

  // Whether it is sending that file.
  [[nodiscard]] bool has_open(const std::string& path) const;
  // What it has answered so far, for example "304 /tags/.changes".
  [[nodiscard]] std::vector<std::string> answers() const;

 private:
  TemporaryDirectory directory_{fast_folder()};
  WebServerSettings settings_;
  int port_ = 0;
  ServerProcess process_;
};

// The server of this test binary, started by the first case that asks for it.
WebServer& shared_web_server();

}  // namespace keysieve::test
