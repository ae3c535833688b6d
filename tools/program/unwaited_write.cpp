#include "tools/program/unwaited_write.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

namespace keysieve {
namespace {

// A pipe that is ready has room for PIPE_BUF bytes. O_NONBLOCK would do, too, but it is a flag of all who
// share the open file: a shell, a script.
ssize_t write_some(int descriptor, std::string_view text) noexcept {
  const ssize_t sent = ::send(descriptor, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent >= 0 || errno != ENOTSOCK) return sent;
  pollfd waiting{.fd = descriptor, .events = POLLOUT, .revents = 0};
  if (::poll(&waiting, 1, 0) != 1) return 0;
  return ::write(descriptor, text.data(), text.size());
}

}  // namespace

std::size_t write_without_waiting(int descriptor, std::string_view text) noexcept {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write_some(descriptor, text.substr(written, PIPE_BUF));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    written += static_cast<std::size_t>(count);
  }
  return written;
}

}  // namespace keysieve
