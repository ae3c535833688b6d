// The limits by which the loader's health is judged.
#pragma once

#include <algorithm>
#include <chrono>

#include "core/worker/base/clock.hpp"

namespace keysieve {

struct HealthLimits {
  // After this long without a sign of life the loader counts as stuck. WatchdogSec= of keysieved.service
  // and the alert KeysieveLoaderStuck use the same value.
  std::chrono::milliseconds longest_silence = std::chrono::seconds(120);
  // Services that start after the loader, to find sets published, wait no longer than this.
  std::chrono::milliseconds longest_start = std::chrono::seconds(30);
};

// By when a loader will have looked at a set again, unless it has stopped or is stuck: it promises that in
// shared memory. Three intervals, because a look may take long.
inline UnixSeconds next_look_by(UnixSeconds now, std::chrono::milliseconds poll_interval) {
  const auto patience = std::max(HealthLimits().longest_silence, 3 * poll_interval);
  return now + std::chrono::ceil<std::chrono::seconds>(patience).count();
}

}  // namespace keysieve
