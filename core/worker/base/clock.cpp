#include "core/worker/base/clock.hpp"

#include <ctime>

#include <chrono>

namespace keysieve {
namespace {

template <typename Unit>
std::int64_t since_1970() noexcept {
  return std::chrono::duration_cast<Unit>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

UnixSeconds unix_now() noexcept {
  return since_1970<std::chrono::seconds>();
}

std::int64_t unix_now_ms() noexcept {
  return since_1970<std::chrono::milliseconds>();
}

BootSeconds boot_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec;
}

Moment moment_now() noexcept {
  return {unix_now(), boot_now()};
}

}  // namespace keysieve
