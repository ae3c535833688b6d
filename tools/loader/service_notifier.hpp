// Tells systemd how the service is: ready, reloading, stopping, alive. Without systemd nothing happens. Never
// waits: what systemd does not take now is told again at the next call, but for reloading and stopping.
#pragma once

#include <chrono>
#include <string>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve {

class ServiceNotifier {
 public:
  ServiceNotifier();

  // False if systemd did not take it: call it again.
  [[nodiscard]] bool ready(const std::string& status);
  void status(const std::string& status);
  void reloading();
  void stopping() { send("STOPPING=1"); }

  // Before ready(): the start may take longer than systemd grants, as long as this is called again within
  // kLongestStep each time.
  static constexpr std::chrono::seconds kLongestStep{120};
  void still_starting();

  // To be called at least every alive_interval(); tells the watchdog no more often than it needs.
  void alive();
  [[nodiscard]] std::chrono::milliseconds alive_interval() const noexcept { return alive_interval_; }

 private:
  bool send(const std::string& state) const;

  FileDescriptor socket_;
  std::string path_;
  std::chrono::milliseconds alive_interval_;
  bool has_watchdog_;
  std::chrono::steady_clock::time_point last_alive_{};
  std::chrono::steady_clock::time_point last_starting_{};
  std::string last_status_;
};

}  // namespace keysieve
