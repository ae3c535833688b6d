#include "tools/doctor/fastcgi.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "core/base/error.hpp"
#include "core/base/file_descriptor.hpp"

namespace keysieve {
namespace {

constexpr timeval kPatience{.tv_sec = 10, .tv_usec = 0};
constexpr int kUnix = AF_UNIX;

// Of the protocol.
enum RecordType : std::uint8_t { BeginRequest = 1, EndRequest = 3, Params = 4, Stdin = 5, Stdout = 6 };
constexpr std::size_t kHeaderBytes = 8;
constexpr std::size_t kMaxContentBytes = 65'535;

[[noreturn]] void fail(const std::string& address, const std::string& reason) {
  throw UnavailableError(address + ": " + reason);
}

[[noreturn]] void fail_with_errno(const std::string& address) {
  const bool is_late = errno == EAGAIN || errno == EINPROGRESS;
  fail(address, is_late ? "does not answer within 10 s" : std::generic_category().message(errno));
}

FileDescriptor connected(const std::string& address, int family, const sockaddr* to, socklen_t bytes) {
  FileDescriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) fail_with_errno(address);
  for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    ::setsockopt(socket.get(), SOL_SOCKET, option, &kPatience, sizeof kPatience);
  }
  if (::connect(socket.get(), to, bytes) != 0) fail_with_errno(address);
  return socket;
}

FileDescriptor connect_to_path(const std::string& address, const std::string& path) {
  sockaddr_un to{};
  to.sun_family = kUnix;
  if (path.size() >= sizeof to.sun_path) throw UsageError(address + ": the path is too long for a socket");
  std::memcpy(to.sun_path, path.c_str(), path.size());
  return connected(address, kUnix, reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

FileDescriptor connect_to_port(const std::string& address) {
  const auto colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == address.size()) {
    throw UsageError("\"" + address + "\" is not understood: unix:/run/php/php8.2-fpm.sock or host:port");
  }
  std::string host = address.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  const int code = ::getaddrinfo(host.c_str(), address.c_str() + colon + 1, &wanted, &first);
  if (code != 0) fail(address, ::gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(first, ::freeaddrinfo);
  return connected(address, found->ai_family, found->ai_addr, found->ai_addrlen);
}

FileDescriptor connect_to(const std::string& address) {
  if (address.starts_with("unix:")) return connect_to_path(address, address.substr(5));
  if (address.starts_with("/")) return connect_to_path(address, address);
  return connect_to_port(address);
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
  if (content.size() > kMaxContentBytes) throw UsageError("too many sets for one request; name some");
  const std::string responder_that_closes{0, 1, 0, 0, 0, 0, 0, 0};
  return record(BeginRequest, responder_that_closes) + record(Params, content) + record(Params, "") +
         record(Stdin, "");
}

std::string read_exactly(const FileDescriptor& socket, std::size_t bytes, const std::string& address) {
  std::string text(bytes, '\0');
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t count = ::read(socket.get(), text.data() + done, bytes - done);
    if (count < 0) fail_with_errno(address);
    if (count == 0) fail(address, "closed the connection: no FastCGI server, or its worker has died");
    done += static_cast<std::size_t>(count);
  }
  return text;
}

}  // namespace

std::string ask_fastcgi(const std::string& address, const std::map<std::string, std::string>& parameters) {
  const FileDescriptor socket = connect_to(address);
  const std::string request = request_of(parameters);
  if (::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    fail_with_errno(address);
  }
  std::string output;
  for (;;) {
    const std::string header = read_exactly(socket, kHeaderBytes, address);
    const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(header[at]); };
    const std::string content =
        read_exactly(socket, static_cast<std::size_t>(byte(4)) << 8 | byte(5), address);
    read_exactly(socket, byte(6), address);
    if (byte(1) == Stdout) output += content;
    if (byte(1) == EndRequest) return output;
  }
}

}  // namespace keysieve
