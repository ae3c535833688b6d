// How long a failover is waited for: `?failover=`.
#pragma once

#include <chrono>
#include <string>

namespace keysieve {

class RedisPatience {
 public:
  explicit RedisPatience(std::chrono::milliseconds whole);

  // Sleeps for a moment, longer each time; throws RedisOutage with the reason when it has run out.
  void pause(const std::string& reason);

 private:
  std::chrono::milliseconds whole_;
  std::chrono::steady_clock::time_point end_;
  std::chrono::milliseconds next_pause_;
};

}  // namespace keysieve
