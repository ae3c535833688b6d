#include "tools/loader/service_notifier.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace keysieve {
namespace {

constexpr std::chrono::milliseconds kWithoutWatchdog = std::chrono::hours(1);

std::string text_in(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::int64_t number_in(const char* name, std::int64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoll(value, nullptr, 10);
}

}  // namespace

// sd_watchdog_enabled(3) says what the variables mean.
ServiceNotifier::ServiceNotifier()
    : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)),
      path_(text_in("NOTIFY_SOCKET")),
      alive_interval_(kWithoutWatchdog) {
  const std::chrono::microseconds limit(number_in("WATCHDOG_USEC", 0));
  has_watchdog_ = limit.count() > 0 && number_in("WATCHDOG_PID", ::getpid()) == ::getpid();
  if (!has_watchdog_) return;
  alive_interval_ = std::max(std::chrono::milliseconds(1),
                             std::chrono::duration_cast<std::chrono::milliseconds>(limit / 3));
}

bool ServiceNotifier::ready(const std::string& status) {
  if (!send("READY=1\nSTATUS=" + status)) return false;
  last_status_ = status;
  return true;
}

void ServiceNotifier::status(const std::string& status) {
  if (status != last_status_ && send("STATUS=" + status)) last_status_ = status;
}

// systemd wants the time of the reload by CLOCK_MONOTONIC, which is GCC's and clang's steady_clock on Linux.
void ServiceNotifier::reloading() {
  const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(since_boot).count();
  send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(microseconds));
}

void ServiceNotifier::still_starting() {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_starting_ < std::chrono::seconds(1)) return;
  const auto longest = std::to_string(std::chrono::microseconds(kLongestStep).count());
  if (send("EXTEND_TIMEOUT_USEC=" + longest)) last_starting_ = now;
}

void ServiceNotifier::alive() {
  const auto now = std::chrono::steady_clock::now();
  if (!has_watchdog_ || now - last_alive_ < alive_interval_) return;
  if (send("WATCHDOG=1")) last_alive_ = now;
}

// Not sd_notify(3), which waits for ever while nobody reads. A path that begins with "@" is no file.
bool ServiceNotifier::send(const std::string& state) const {
  sockaddr_un address{};
  if (path_.empty() || path_.size() >= sizeof address.sun_path) return true;
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  if (path_.front() == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path_.size());
  const ssize_t sent = ::sendto(socket_.get(), state.data(), state.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&address), size);
  return sent >= 0 || (errno != EAGAIN && errno != ENOBUFS);  // else there is nobody to tell
}

}  // namespace keysieve
