#include "tests/support/server_process.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "tests/support/forked.hpp"

namespace keysieve::test {
namespace {

// As both programs do from their beginning on: what a server hangs up is an error.
[[maybe_unused]] const auto sigpipe_before = ::signal(SIGPIPE, SIG_IGN);

template <typename Address>
FileDescriptor connect_to_address(int family, const Address& address) {
  FileDescriptor client(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    client.close();
  return client;
}

}  // namespace

FileDescriptor connect_to(const std::string& socket_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
  return connect_to_address(AF_UNIX, address);
}

FileDescriptor connect_to(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return connect_to_address(AF_INET, address);
}

std::string read_line(const FileDescriptor& client) {
  std::string line;
  char byte = 0;
  while (::read(client.get(), &byte, 1) == 1 && byte != '\n') line += byte;
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

void ServerProcess::start(const ProgramCall& call, const std::string& log_path,
                          const std::function<bool()>& accepts) {
  const FileDescriptor log(::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  pid_ = start_program(call, {STDIN_FILENO, log.get(), log.get()});
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (!accepts()) {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      throw std::runtime_error(call.program + " ended at once; is its package installed?");
    }
    if (std::chrono::steady_clock::now() > deadline) {
      kill();
      throw std::runtime_error(call.program + " does not accept connections");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void ServerProcess::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void ServerProcess::stall() const {
  ::kill(pid_, SIGSTOP);
  ::waitpid(pid_, nullptr, WUNTRACED);
}

void ServerProcess::resume() const {
  ::kill(pid_, SIGCONT);
}

int start_at_free_port(const std::function<void(int port)>& start) {
  constexpr int kTries = 5;
  for (int tries = 1;; ++tries) {
    const int port = free_port();
    try {
      start(port);
      return port;
    } catch (const std::runtime_error&) {
      if (tries == kTries) throw;
    }
  }
}

}  // namespace keysieve::test
