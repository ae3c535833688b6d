#include "tests/support/server_process.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
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
FileDescriptor used(int family, const Address& address, int (*use)(int, const sockaddr*, socklen_t)) {
  FileDescriptor opened(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(opened.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);  // at the port of one before
  // Passes on what comes, at once; accepted sockets inherit it.
  ::setsockopt(opened.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (use(opened.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) opened.close();
  return opened;
}

}  // namespace

FileDescriptor socket_at(const std::string& address, int (*use)(int, const sockaddr*, socklen_t)) {
  if (address.starts_with('/')) {
    sockaddr_un at_path{};
    at_path.sun_family = AF_UNIX;
    address.copy(at_path.sun_path, sizeof at_path.sun_path - 1);
    return used(AF_UNIX, at_path, use);
  }
  sockaddr_in at_port{};
  at_port.sin_family = AF_INET;
  at_port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at_port.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address)));
  return used(AF_INET, at_port, use);
}

int port_of(const FileDescriptor& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

int free_port() {
  return port_of(socket_at("0", ::bind));
}

FileDescriptor connect_to(const std::string& socket_path) {
  return socket_at(socket_path, ::connect);
}

FileDescriptor connect_to(int port) {
  return socket_at(std::to_string(port), ::connect);
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
