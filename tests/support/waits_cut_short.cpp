#include "tests/support/waits_cut_short.hpp"

#include <chrono>
#include <sstream>
#include <string>

namespace keysieve::test {
namespace {

// "id=7 addr=... flags=b ... cmd=wait ..."
void end_waits(const RedisServer& server, std::size_t replicas) {
  std::istringstream clients(server.text("CLIENT LIST"));
  for (std::string client; std::getline(clients, client);) {
    if (client.find(" cmd=wait ") == std::string::npos) continue;
    if (replicas > 0) server.wait_for_replicas(replicas);
    const std::string id = client.substr(3, client.find(' ') - 3);
    server.command("CLIENT UNBLOCK " + id + " TIMEOUT");
  }
}

}  // namespace

WaitsCutShort::WaitsCutShort(const RedisServer& server, std::size_t replicas)
    : thread_([&server, replicas](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          end_waits(server, replicas);
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      }) {}

}  // namespace keysieve::test
