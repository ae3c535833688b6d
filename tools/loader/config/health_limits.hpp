// The limits by which the loader's health is judged.
#pragma once

#include <chrono>

namespace keysieve {

struct HealthLimits {
  // After this long without a sign of life the loader counts as stuck. WatchdogSec= of keysieved.service
  // and the alert KeysieveLoaderStuck use the same value.
  std::chrono::milliseconds longest_silence = std::chrono::seconds(120);
  // Services that start after the loader, to find sets published, wait no longer than this.
  std::chrono::milliseconds longest_start = std::chrono::seconds(30);
};

}  // namespace keysieve
