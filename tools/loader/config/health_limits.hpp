// What the loader's health is measured by.
#pragma once

#include <chrono>

namespace keysieve {

struct HealthLimits {
  // Without a sign of life the loader is stuck: WatchdogSec= of keysieved.service, and the alert
  // KeysieveLoaderStuck, have the same.
  std::chrono::milliseconds longest_silence = std::chrono::seconds(120);
  // Who starts after the loader, to find sets published, waits no longer than this for one that is held back.
  std::chrono::milliseconds longest_start = std::chrono::seconds(30);
};

}  // namespace keysieve
