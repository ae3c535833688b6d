// keysieved with its status served on a unix socket.
#pragma once

#include "tests/tools/loader/http/http_client.hpp"
#include "tests/tools/loader/keysieved_fixture.hpp"

namespace keysieve::test {

class KeysievedStatus : public Keysieved {
 protected:
  [[nodiscard]] std::string socket() const { return site_.root() / "status.sock"; }
  [[nodiscard]] std::string status_config() const { return "[status]\nlisten = \"unix:" + socket() + "\"\n"; }
  [[nodiscard]] HttpReply get(const std::string& path) const { return ask(socket(), path); }
  // Polls until the metrics have that line.
  [[nodiscard]] bool counts(const std::string& line) const {
    return eventually([&] { return metrics().find("\n" + line + "\n") != std::string::npos; });
  }
  [[nodiscard]] std::string metrics() const { return get("/metrics").body; }
  // The value of the only sample that begins so.
  [[nodiscard]] double value_of(const std::string& name) const {
    const std::string all = metrics();
    const auto at = all.find("\n" + name + " ");
    return at == std::string::npos ? -1e9 : std::stod(all.substr(at + name.size() + 2));
  }
};

}  // namespace keysieve::test
