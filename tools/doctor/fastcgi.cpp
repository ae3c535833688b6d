#include "tools/doctor/fastcgi.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <system_error>

#include "core/base/error.hpp"
#include "core/base/file_descriptor.hpp"

namespace keysieve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kExchangePatience{10};  // with all of a question

// Of the protocol.
enum RecordType : std::uint8_t { BeginRequest = 1, EndRequest = 3, Params = 4, Stdin = 5, Stdout = 6 };
constexpr std::size_t kHeaderBytes = 8;
constexpr std::size_t kMaxContentBytes = 65'535;

[[noreturn]] void fail(const std::string& address, const std::string& reason) {
  throw Error(ErrorKind::Unavailable, address + ": " + reason);
}

[[noreturn]] void fail_with_errno(const std::string& address) {
  const bool is_late = errno == EAGAIN || errno == EINPROGRESS;
  fail(address, is_late ? "does not answer within 10 s" : std::generic_category().message(errno));
}

// Lets the next system call on the socket wait for what is left; false, and errno, when nothing is.
bool wait_until(Clock::time_point deadline, const FileDescriptor& socket) {
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(deadline - Clock::now()).count();
  const timeval limit{.tv_sec = left / 1'000'000, .tv_usec = left % 1'000'000};
  errno = EAGAIN;
  return left > 0 && ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
         ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0;
}

// Not open, and errno, when that fails.
FileDescriptor connected(int family, const sockaddr* to, socklen_t bytes, Clock::time_point deadline) {
  FileDescriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return socket;
  if (wait_until(deadline, socket) && ::connect(socket.get(), to, bytes) == 0) return socket;
  const int reason = errno;
  socket.close();
  errno = reason;
  return socket;
}

FileDescriptor connect_to_path(const std::string& address, const std::string& path,
                               Clock::time_point deadline) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (path.size() >= sizeof to.sun_path)
    throw Error(ErrorKind::Usage, address + ": the path is too long for a socket");
  std::memcpy(to.sun_path, path.c_str(), path.size());
  return connected(AF_UNIX, reinterpret_cast<const sockaddr*>(&to), sizeof to, deadline);
}

FileDescriptor connect_to_port(const std::string& address, Clock::time_point deadline) {
  const auto colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == address.size()) {
    throw Error(ErrorKind::Usage,
                "\"" + address + "\" is not understood: unix:/run/php/php8.2-fpm.sock or host:port");
  }
  std::string host = address.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  const int code = ::getaddrinfo(host.c_str(), address.c_str() + colon + 1, &wanted, &first);
  if (code != 0) fail(address, ::gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(first, ::freeaddrinfo);
  FileDescriptor socket;
  for (const addrinfo* at = found.get(); at != nullptr && !socket.is_open(); at = at->ai_next) {
    socket = connected(at->ai_family, at->ai_addr, at->ai_addrlen, deadline);
  }
  return socket;
}

FileDescriptor connect_to(const std::string& address, Clock::time_point deadline) {
  if (address.starts_with("unix:")) return connect_to_path(address, address.substr(5), deadline);
  if (address.starts_with("/")) return connect_to_path(address, address, deadline);
  return connect_to_port(address, deadline);
}

std::string record(RecordType type, const std::string& content) {
  const auto high = static_cast<char>(content.size() >> 8);
  const auto low = static_cast<char>(content.size());
  return std::string{1, static_cast<char>(type), 0, 1, high, low, 0, 0} + content;
}

std::string length_of(const std::string& text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  if (size < 128) return {static_cast<char>(size)};
  return {static_cast<char>(size >> 24 | 0x80), static_cast<char>(size >> 16), static_cast<char>(size >> 8),
          static_cast<char>(size)};
}

std::string request_of(const std::map<std::string, std::string>& parameters) {
  std::string content;
  for (const auto& [name, value] : parameters) {
    content.append(length_of(name)).append(length_of(value)).append(name).append(value);
  }
  if (content.size() > kMaxContentBytes)
    throw Error(ErrorKind::Usage, "too many sets for one request; name some");
  const std::string responder_that_closes{0, 1, 0, 0, 0, 0, 0, 0};
  return record(BeginRequest, responder_that_closes) + record(Params, content) + record(Params, "") +
         record(Stdin, "");
}

// A connection that has one deadline for all that is sent and read.
struct Connection {
  const std::string& address;
  Clock::time_point deadline = Clock::now() + kExchangePatience;
  FileDescriptor socket = connect_to(address, deadline);
};

void send_all(const Connection& to, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    if (!wait_until(to.deadline, to.socket)) fail_with_errno(to.address);
    const ssize_t count = ::send(to.socket.get(), text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (count < 0) fail_with_errno(to.address);
    done += static_cast<std::size_t>(count);
  }
}

std::string read_exactly(const Connection& from, std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t done = 0; done < bytes;) {
    if (!wait_until(from.deadline, from.socket)) fail_with_errno(from.address);
    const ssize_t count = ::read(from.socket.get(), text.data() + done, bytes - done);
    if (count < 0) fail_with_errno(from.address);
    if (count == 0) fail(from.address, "closed the connection: no FastCGI server, or its worker has died");
    done += static_cast<std::size_t>(count);
  }
  return text;
}

}  // namespace

std::string ask_fastcgi(const std::string& address, const std::map<std::string, std::string>& parameters) {
  const Connection connection{.address = address};
  if (!connection.socket.is_open()) fail_with_errno(address);
  send_all(connection, request_of(parameters));
  std::string output;
  for (;;) {
    const std::string header = read_exactly(connection, kHeaderBytes);
    const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(header[at]); };
    const std::string content = read_exactly(connection, static_cast<std::size_t>(byte(4)) << 8 | byte(5));
    read_exactly(connection, byte(6));
    if (byte(1) == Stdout) output += content;
    if (byte(1) == EndRequest) return output;
  }
}

}  // namespace keysieve
