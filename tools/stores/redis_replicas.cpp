#include "tools/stores/redis_replicas.hpp"

#include <algorithm>
#include <cstdint>

namespace keysieve {

// The server must give up well before the connection does, or nobody would hear how many there were: it looks
// for waits that are over `hz` times per second only, every 100 ms by default.
ReplicaDemand::ReplicaDemand(int replicas, std::chrono::milliseconds timeout)
    : replicas_(replicas),
      replicas_text_(std::to_string(replicas)),
      patience_text_(std::to_string(std::max<std::int64_t>(1, timeout.count() / 2))) {}

void ReplicaDemand::check(const redisReply& reply, const std::string& server_name) const {
  check_reply(reply, server_name);
  if (reply.integer >= replicas_) return;
  throw UnavailableError(server_name + ": only " + std::to_string(reply.integer) + " of " + replicas_text_ +
                         " replicas have it after " + patience_text_ + " ms");
}

}  // namespace keysieve
