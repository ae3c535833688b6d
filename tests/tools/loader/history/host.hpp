// One host of a history: its loader, two processes that look keys up, and what the host must not forget.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/worker/shm/set_reader.hpp"
#include "tools/loader/refresh/set_refresher.hpp"

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
  const RefreshOutcome& look();
  // As `keysieve publish`, which refuses to hide live keys. Not before the first look after a reboot: nothing
  // in shared memory would tell of them then.
  void publish_by_hand(Bytes snapshot);

  // One process takes each publication at once, the other stays with the one before for as long as it may.
  enum class Process { AtOnce, Late };
  // Maybe, where the set is not ready.
  bool may_contain(int key, Process process = Process::AtOnce);
  // Nothing while no publication is attached.
  std::optional<BuildId> attached_build(Process process = Process::AtOnce);

  Keys received;  // by the loader, as adds or in a snapshot
  Log adds;       // of these, what it has to remember by itself

 private:
  void begin_reading();
  SetReader& reader(Process process) { return *(process == Process::Late ? late_reader_ : reader_); }

  std::string root_;
  std::string store_url_;
  SteadyTime now_{std::chrono::hours(1)};
  std::optional<StoreConnection> store_;
  SetRecorder recorder_{kHistorySet};
  std::optional<SetRefresher> refresher_;
  std::optional<SetReader> reader_;
  std::optional<SetReader> late_reader_;
};

}  // namespace keysieve::test
