// One host of a history: its loader, a process that looks keys up, and what the host must not forget.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/shm/set_reader.hpp"
#include "tools/loader/set_refresher.hpp"

namespace keysieve::test {

inline const std::string kHistorySet = "tags";

using Keys = std::set<int>;
using Log = std::map<int, LogPosition>;  // where each key was added last

std::string key_text(int key);

class Host {
 public:
  Host(const std::string& root, const std::string& store_url);

  void start();
  void reboot();
  // One look of the loader, past every backoff.
  const SetState& look();
  // As `keysieve publish`, which refuses to hide live keys. Not before the first look after a reboot: nothing
  // in shared memory would tell of them then.
  void publish_by_hand(Bytes snapshot);

  // Maybe, where the set is not ready.
  bool may_contain(int key);
  // Nothing while no publication is attached.
  std::optional<BuildId> attached_build();

  Keys received;  // by the loader, as adds or in a snapshot
  Log adds;       // of these, what it has to remember by itself

 private:
  void begin_reading();

  std::string root_;
  std::string store_url_;
  SteadyTime now_{std::chrono::hours(1)};
  std::optional<StoreConnection> store_;
  SetRecorder recorder_{kHistorySet};
  std::optional<SetRefresher> refresher_;
  std::optional<SetReader> reader_;
};

}  // namespace keysieve::test
