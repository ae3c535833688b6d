// What lies between a client and a server on unix sockets: it can be cut in the ways a network can. A process
// of its own, gone when the object is.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>

namespace keysieve::test {

class Relay {
 public:
  // Listens at `path`; every connection is passed on to the server at `target`.
  Relay(std::string path, std::string target);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay() { hang_up(); }

  // Nothing passes any more, and nobody is told; until resume().
  void stall() const { ::kill(pid_, SIGSTOP); }
  void resume() const { ::kill(pid_, SIGCONT); }
  // All connections end, and no new ones are taken; until start().
  void hang_up();
  void start();

 private:
  std::string path_;
  std::string target_;
  pid_t pid_ = -1;
};

}  // namespace keysieve::test
