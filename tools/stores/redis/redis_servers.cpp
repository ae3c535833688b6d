#include "tools/stores/redis/redis_servers.hpp"

#include <algorithm>
#include <cstdint>
#include <thread>

namespace keysieve {
namespace {

// A failover takes seconds. These pauses notice its end soon and do not flood the servers.
constexpr std::chrono::milliseconds kFirstPause{20};
constexpr std::chrono::milliseconds kLongestPause{500};

}  // namespace

void try_through_failover(std::chrono::milliseconds failover, const std::function<void()>& work,
                          const std::function<void()>& forget) {
  const auto end = std::chrono::steady_clock::now() + failover;
  for (auto pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    std::string reason;
    try {
      return work();
    } catch (const RedisOutage& outage) {
      reason = outage.what();
    }
    forget();
    const auto now = std::chrono::steady_clock::now();
    if (failover.count() == 0) throw RedisOutage(reason);
    if (now >= end) throw RedisOutage(reason + " (tried for " + std::to_string(failover.count()) + " ms)");
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(pause, end - now));
  }
}

// The server must give up well before the connection does, or its count of replicas would be lost. It looks
// for expired waits only `hz` times per second, every 100 ms by default.
ReplicaDemand::ReplicaDemand(std::optional<int> replicas, std::chrono::milliseconds timeout)
    : is_default_(!replicas),
      replicas_(replicas.value_or(1)),
      replicas_text_(std::to_string(replicas_)),
      patience_text_(std::to_string(std::max<std::int64_t>(1, timeout.count() / 2))) {}

void ReplicaDemand::check(const redisReply& reply, const std::string& server_name) const {
  check_reply(reply, server_name);
  if (reply.integer >= replicas_) return;
  throw Error(ErrorKind::Unavailable, server_name + ": only " + std::to_string(reply.integer) + " of " +
                                          replicas_text_ + " replicas have it after " + patience_text_ +
                                          " ms" +
                                          (is_default_ ? " (with ?wait_replicas=0 none needs to)" : ""));
}

}  // namespace keysieve
