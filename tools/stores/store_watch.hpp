// Tells, without polling, that a log of a store has grown or that a record may have changed. A hint that may
// come too often and, where a network lies between, may be late: whoever must not miss anything looks at
// intervals as well.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/log_position.hpp"

namespace keysieve {

struct WatchedLog {
  std::string name;
  LogPosition seen{};  // what stands up to here is known
};

// One thread. Throws as a Store does; a watch that has thrown is of no use any more.
class StoreWatch {
 public:
  virtual ~StoreWatch() = default;

  // Begins to wait for anything behind what was seen. To be called again after each take(), with what was
  // seen by then. Does not wait.
  virtual void arm(std::span<const WatchedLog> logs) = 0;
  // One of them becomes readable when there is something to take.
  [[nodiscard]] virtual std::vector<int> descriptors() const = 0;
  // The names, of those armed, that may have something new. Does not wait: empty when nothing has come.
  virtual std::vector<std::string> take() = 0;
};

}  // namespace keysieve
