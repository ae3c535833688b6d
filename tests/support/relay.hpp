// What lies between a client and a server on unix sockets: it can be cut in the ways a network can. A process
// of its own, gone when the object is.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "tests/support/shared_page.hpp"

namespace keysieve::test {

// What becomes of all connections after so many bytes, in both directions together.
struct RelayCut {
  enum class How { HangUp, Stall, Drip };

  std::uint64_t after_bytes;
  How how;
};

class Relay {
 public:
  // Listens at `path`; every connection is passed on to the server at `target`.
  Relay(std::string path, std::string target, std::optional<RelayCut> cut = {});
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay() { hang_up(); }

  // Nothing passes any more, and nobody is told; until resume().
  void stall() const { ::kill(pid_, SIGSTOP); }
  void resume() const { ::kill(pid_, SIGCONT); }
  // All connections end, and no new ones are taken; until start().
  void hang_up();
  void start();
  // By the RelayCut.
  [[nodiscard]] bool was_cut() const { return shared_->was_cut; }

 private:
  struct Shared {
    std::atomic<bool> was_cut{false};
  };

  std::string path_;
  std::string target_;
  std::optional<RelayCut> cut_;
  SharedPage<Shared> shared_;
  pid_t pid_ = -1;
};

}  // namespace keysieve::test
