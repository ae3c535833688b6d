#include "tools/stores/redis/redis_patience.hpp"

#include <algorithm>
#include <thread>

#include "tools/stores/redis/redis_reply.hpp"

namespace keysieve {
namespace {

// A failover takes seconds: neither its end is missed for long, nor are the servers flooded meanwhile.
constexpr std::chrono::milliseconds kFirstPause{20};
constexpr std::chrono::milliseconds kLongestPause{500};

}  // namespace

RedisPatience::RedisPatience(std::chrono::milliseconds whole)
    : whole_(whole), end_(std::chrono::steady_clock::now() + whole), next_pause_(kFirstPause) {}

void RedisPatience::pause(const std::string& reason) {
  const auto now = std::chrono::steady_clock::now();
  if (whole_.count() == 0) throw RedisOutage(reason);
  if (now >= end_) throw RedisOutage(reason + " (tried for " + std::to_string(whole_.count()) + " ms)");
  std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(next_pause_, end_ - now));
  next_pause_ = std::min(2 * next_pause_, kLongestPause);
}

}  // namespace keysieve
