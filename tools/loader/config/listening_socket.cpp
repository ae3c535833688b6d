#include "tools/loader/config/listening_socket.hpp"

#include <fmt/core.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/worker/base/error.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr int kBacklog = 64;

[[noreturn]] void refuse(const std::string& address) {
  throw Error(ErrorKind::Usage, fmt::format("\"{}\" is not an address to listen on: \"127.0.0.1:9427\", "
                                            "\"[::1]:9427\" or \"unix:/absolute/path\"",
                                            address));
}

std::pair<std::string, std::string> host_and_port(const std::string& address) {
  const auto colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) refuse(address);
  std::string host = address.substr(0, colon);
  const std::string port = address.substr(colon + 1);
  const bool has_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (has_brackets) host = host.substr(1, host.size() - 2);
  if (has_brackets != (host.find(':') != std::string::npos)) refuse(address);
  if (!whole_number(port, UINT16_MAX)) refuse(address);
  return {host, port};
}

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses resolve(const std::string& address) {
  const auto [host, port] = host_and_port(address);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (status != 0) refuse(address);
  return {found, &::freeaddrinfo};
}

sockaddr_un socket_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  return address;
}

FileDescriptor new_socket(int family, const std::string& address) {
  FileDescriptor file(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!file.is_open()) throw_write_error(address, errno);
  return file;
}

// A file that is not a socket belongs to something else, and stays.
void refuse_other_file(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0 && !S_ISSOCK(status.st_mode)) {
    throw Error(ErrorKind::CannotCreate, path + ": exists and is not a socket");
  }
}

// A socket that was left behind refuses, and may be replaced.
bool somebody_answers(const std::string& path) {
  const sockaddr_un address = socket_address(path);
  const FileDescriptor probe = new_socket(AF_UNIX, path);
  const int status = ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  return status == 0 || errno == EAGAIN || errno == EINPROGRESS;
}

}  // namespace

std::string checked_listen_address(const std::string& address) {
  if (!address.starts_with(kUnix)) {
    static_cast<void>(resolve(address));
    return address;
  }
  const std::string path = address.substr(kUnix.size());
  if (!path.starts_with('/')) refuse(address);
  constexpr std::size_t kLongest = sizeof(sockaddr_un::sun_path) - 1;
  if (path.size() > kLongest) {
    throw Error(ErrorKind::Usage,
                fmt::format("\"{}\" is longer than a socket's path can be: {} bytes", path, kLongest));
  }
  return address;
}

ListeningSocket::ListeningSocket(const std::string& address, std::optional<gid_t> group) {
  if (address.starts_with(kUnix)) {
    listen_at_path(address.substr(kUnix.size()), group);
  } else {
    listen_at_host(address);
  }
}

ListeningSocket::~ListeningSocket() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

// Sets the permissions before listen(), so that no process connects too early.
void ListeningSocket::listen_at_path(const std::string& path, std::optional<gid_t> group) {
  refuse_other_file(path);
  if (somebody_answers(path)) throw Error(ErrorKind::Locked, path + ": another process answers there");
  ::unlink(path.c_str());
  file_ = new_socket(AF_UNIX, path);
  const sockaddr_un address = socket_address(path);
  const auto fail = [&](const std::string& what = {}) {
    const int reason = errno;
    if (!path_.empty()) ::unlink(path_.c_str());
    throw_write_error(path + what, reason);
  };
  if (::bind(file_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) fail();
  path_ = path;
  if (group && ::chown(path.c_str(), static_cast<uid_t>(-1), *group) != 0) {
    fail(": cannot change its group (the loader's user must be a member)");
  }
  if (::chmod(path.c_str(), 0660) != 0 || ::listen(file_.get(), kBacklog) != 0) fail();
}

void ListeningSocket::listen_at_host(const std::string& address) {
  const Addresses found = resolve(address);
  file_ = new_socket(found->ai_family, address);
  const int on = 1;
  ::setsockopt(file_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(file_.get(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(file_.get(), kBacklog) != 0) {
    throw_write_error(address, errno);
  }
}

}  // namespace keysieve
