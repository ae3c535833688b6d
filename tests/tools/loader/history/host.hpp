// One host of a history: its loader, two processes that look keys up, and what the host must not forget.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/publisher/shm/publisher.hpp"
#include "core/worker/shm/set_reader.hpp"
#include "tools/loader/refresh/set_refresher.hpp"

namespace keysieve::test {

inline const std::string kHistorySet = "tags";

using Keys = std::set<int>;
using Log = std::map<int, LogPosition>;  // where each key was added last

inline std::string key_text(int key) {
  return "key-" + std::to_string(key);
}

class Host {
 public:
  Host(const std::string& root, const std::string& store_url) : root_(root), store_url_(store_url) {
    for (const char* folder : {"", "/shm", "/cache"}) std::filesystem::create_directory(root_ + folder);
    start();
    begin_reading();
  }

  void start() {
    store_.emplace(store_opener(store_url_), "the store", Milliseconds(1000));
    LoaderConfig loader;
    loader.directory = root_ + "/shm";
    loader.cache = root_ + "/cache";
    SetConfig set;
    set.name = kHistorySet;
    set.guards.max_shrink = {};
    refresher_.emplace(set, loader, *store_, recorder_, [] { return true; });
  }
  void reboot() {
    refresher_.reset();
    for (const auto& entry : std::filesystem::directory_iterator(root_ + "/shm"))
      std::filesystem::remove_all(entry);
    start();
    begin_reading();
  }
  // One look of the loader, past every backoff.
  const RefreshOutcome& look() {
    now_ += std::chrono::hours(1);
    const RefreshOutcome& outcome = refresher_->refresh(now_);
    store_->close();
    return outcome;
  }
  // As `keysieve publish`, which refuses to hide live keys. Not before the first look after a reboot: nothing
  // in shared memory would tell of them then.
  void publish_by_hand(Bytes snapshot) {
    Publisher publisher({.directory = root_ + "/shm"}, kHistorySet);
    if (!attached_build()) return;
    const auto layer = publisher.open_layer();
    if (!layer || layer->live_keys() == 0) publisher.publish(snapshot, 0);
  }

  // One process takes each publication at once, the other stays with the one before for as long as it may.
  enum class Process { AtOnce, Late };
  // Maybe, where the set is not ready.
  bool may_contain(int key, Process process = Process::AtOnce) {
    reader(process).check_soon();
    const Attachment* attached = reader(process).follow();
    return !attached || attached->may_contain(attached->snapshot().hasher()(key_text(key)));
  }
  // Nothing where the set is no map.
  std::optional<MapAnswer> find(int key, Process process) {
    const Attachment* attached = reader(process).follow();
    if (!attached || !attached->snapshot().is_map()) return std::nullopt;
    return attached->find(attached->snapshot().hasher()(key_text(key)));
  }
  // Nothing while no publication is attached.
  std::optional<BuildId> attached_build(Process process = Process::AtOnce) {
    reader(process).check_soon();
    const Attachment* attached = reader(process).follow();
    if (!attached) return std::nullopt;
    return attached->snapshot().header().build_id;
  }

  Keys received;  // by the loader, as adds or in a snapshot
  Log adds;       // of these, what it has to remember by itself

 private:
  void begin_reading() {
    ReaderSettings settings{
        .directory = root_ + "/shm", .trusted_owner = {}, .max_jitter = std::chrono::hours(1'000)};
    late_reader_.emplace(settings, kHistorySet);
    settings.max_jitter = {};
    reader_.emplace(settings, kHistorySet);
  }
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
