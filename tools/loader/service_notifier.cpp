#include "tools/loader/service_notifier.hpp"

#include <time.h>

#include <algorithm>
#include <cstdint>

#ifdef KEYSIEVE_SYSTEMD
#include <systemd/sd-daemon.h>
#else  // -DKEYSIEVE_SYSTEMD=OFF: what libsystemd does on a machine without systemd
static int sd_notify(int, const char*) {
  return 0;
}
static int sd_watchdog_enabled(int, std::uint64_t*) {
  return 0;
}
#endif

namespace keysieve {
namespace {

constexpr std::chrono::milliseconds kWithoutWatchdog = std::chrono::hours(1);

// systemd wants the time of the reload on the clock it uses itself.
std::string monotonic_microseconds() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  const auto since_boot = std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(since_boot).count());
}

}  // namespace

ServiceNotifier::ServiceNotifier() : alive_interval_(kWithoutWatchdog) {
  std::uint64_t microseconds = 0;
  has_watchdog_ = ::sd_watchdog_enabled(0, &microseconds) > 0;
  if (!has_watchdog_) return;
  const auto limit = std::chrono::microseconds(static_cast<std::int64_t>(microseconds));
  alive_interval_ = std::max(std::chrono::milliseconds(1),
                             std::chrono::duration_cast<std::chrono::milliseconds>(limit / 3));
}

void ServiceNotifier::ready(const std::string& status) {
  send("READY=1\nSTATUS=" + status);
  last_status_ = status;
}

void ServiceNotifier::status(const std::string& status) {
  if (status == last_status_) return;
  send("STATUS=" + status);
  last_status_ = status;
}

void ServiceNotifier::reloading() {
  send("RELOADING=1\nMONOTONIC_USEC=" + monotonic_microseconds());
}

void ServiceNotifier::stopping() {
  send("STOPPING=1");
}

void ServiceNotifier::still_starting() {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_starting_ < std::chrono::seconds(1)) return;
  send("EXTEND_TIMEOUT_USEC=" + std::to_string(std::chrono::microseconds(kLongestStep).count()));
  last_starting_ = now;
}

void ServiceNotifier::alive() {
  const auto now = std::chrono::steady_clock::now();
  if (!has_watchdog_ || now - last_alive_ < alive_interval_) return;
  send("WATCHDOG=1");
  last_alive_ = now;
}

// Without systemd there is nobody to tell.
void ServiceNotifier::send(const std::string& state) const {
  static_cast<void>(::sd_notify(0, state.c_str()));
}

}  // namespace keysieve
