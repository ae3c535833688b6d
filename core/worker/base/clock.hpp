// Wall-clock time in Unix seconds, the unit of every moment in snapshots, control pages and records.
#pragma once

#include <cstdint>

namespace keysieve {

using UnixSeconds = std::int64_t;

// Moments and spans are between 0 and this, the year 33,658, so that their sums do not overflow.
inline constexpr UnixSeconds kFarthestMoment = 1'000'000'000'000;
constexpr bool is_moment(UnixSeconds seconds) noexcept {
  return seconds >= 0 && seconds <= kFarthestMoment;
}

// A moment that another host's clock calls past may be ahead of this one's by a few minutes. Beyond that, one
// of the clocks is wrong.
inline constexpr UnixSeconds kClockDifference = 600;
constexpr bool is_future(UnixSeconds moment, UnixSeconds now) noexcept {
  return moment > now + kClockDifference;
}

// Seconds since the machine was booted, those in which it slept included. This clock
// cannot be set, so it measures the spans that are promised. Begins again with each boot.
using BootSeconds = std::int64_t;
BootSeconds boot_now() noexcept;

// Both clocks at one moment.
struct Moment {
  UnixSeconds unix = 0;
  BootSeconds boot = 0;
};
Moment moment_now() noexcept;

// Out of line, because <chrono> is a long header and no lookup reads a clock.
UnixSeconds unix_now() noexcept;
std::int64_t unix_now_ms() noexcept;

}  // namespace keysieve
