// A source of keys, a store and two hosts, and an exact model of what each host must answer maybe for.
#pragma once

#include <deque>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/snapshot/snapshot.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/loader/history/host.hpp"
#include "tests/tools/loader/history/place.hpp"
#include "tests/tools/loader/history/step.hpp"

namespace keysieve::test {

class World {
 public:
  // With `late_commits` a transaction may stay open while builds begin and end: they reach back for it.
  // Otherwise every add is committed at once, and a build takes over all that the log held when it began.
  World(const std::string& scheme, bool late_commits);

  void take(const Step& step);
  // Every key that a host has received is answered maybe there; by a late process, every key that was added.
  void check();
  // Once all is well again, every host answers maybe for all that was ever added and not lost.
  void heal_and_check();

  static inline std::uint64_t unknown_and_maybe = 0;
  static inline std::uint64_t unknown_and_absent = 0;
  static inline std::uint64_t absent_for_late =
      0;  // answers of a process that has another build than is current

 private:
  struct Build {
    SnapshotBytes snapshot;
    Keys keys;
  };

  [[nodiscard]] std::unique_ptr<Store> open() const { return open_store(place_->url()); }
  [[nodiscard]] bool is_up() const { return place_->is_up(); }
  Host& host(int number) { return hosts_[static_cast<std::size_t>(number) % hosts_.size()]; }

  void check_late(Host& host);
  void bring_up();
  void add(int key);
  void commit();
  void begin_build();
  void finish_build();
  void publish_by_hand(Host& host);
  const RefreshOutcome& look(Host& host);
  void receive(Host& host);
  void roll_back();
  void replicate();
  void fail_over();
  void lose_snapshots();

  bool late_commits_;
  TemporaryDirectory root_{"/dev/shm"};
  std::unique_ptr<Place> place_;
  std::deque<Host> hosts_;
  Keys source_;
  Keys uncommitted_;
  Log logged_;  // what stands in the store's log, or did until it was trimmed
  Log replicated_;
  std::map<BuildId, Build> builds_;
  std::optional<BuildId> newest_;   // that was begun
  std::optional<BuildId> pending_;  // that was begun and not pushed
  UnixSeconds as_of_ = 1'700'000'000;
};

}  // namespace keysieve::test
