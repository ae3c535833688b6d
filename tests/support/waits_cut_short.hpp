// Replicas that are waited for in vain, without the waiting. Used by suites whose writes shall fail for want
// of a replica: what they allow a write can then be as long as a busy machine needs for all that must not
// fail.
#pragma once

#include <cstddef>
#include <stop_token>
#include <thread>

#include "tests/support/redis_server.hpp"

namespace keysieve::test {

// Ends every WAIT that the server holds, as the server does when its time has passed. Until the object is
// gone.
class WaitsCutShort {
 public:
  // Each once so many replicas have what was written before it.
  explicit WaitsCutShort(const RedisServer& server, std::size_t replicas = 0);

 private:
  std::jthread thread_;
};

}  // namespace keysieve::test
