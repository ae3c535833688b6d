// What the loader's health is measured by.
#pragma once

#include <chrono>

namespace keysieve {

struct HealthLimits {
  // Without a sign of life the loader is stuck: WatchdogSec= of keysieved.service, and the alert
  // KeysieveLoaderStuck, have the same.
  std::chrono::milliseconds longest_silence = std::chrono::seconds(120);
};

}  // namespace keysieve
