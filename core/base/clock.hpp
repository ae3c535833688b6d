// Wall-clock time in Unix seconds, the unit of every moment in snapshots, control pages and records.
#pragma once

#include <chrono>
#include <cstdint>

namespace keysieve {

using UnixSeconds = std::int64_t;

inline UnixSeconds unix_now() noexcept {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace keysieve
