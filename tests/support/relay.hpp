// A relay between a client and a server, which can be cut in the ways a network can. It is a process of its
// own, gone when the object is. An address is the path of a unix socket, or a port of 127.0.0.1.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "tests/support/shared_page.hpp"

namespace keysieve::test {

// What happens to all connections after so many bytes, in both directions together.
struct RelayCut {
  enum class How { HangUp, Stall, Drip };

  std::uint64_t after_bytes;
  How how;
};

class Relay {
 public:
  // Listens at `address`; every connection is passed on to the server at `target`.
  Relay(std::string address, const std::string& target, std::optional<RelayCut> cut = {});
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay();

  // Whether the RelayCut has happened.
  [[nodiscard]] bool was_cut() const { return shared_->was_cut; }

 private:
  struct Shared {
    std::atomic<bool> was_cut{false};
  };

  std::string address_;
  SharedPage<Shared> shared_;
  pid_t pid_ = -1;
};

}  // namespace keysieve::test
