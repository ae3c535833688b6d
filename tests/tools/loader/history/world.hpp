// A source of keys, a store and two hosts, and an exact model of what each host must answer maybe for.
#pragma once

#include <rapidcheck.h>

#include <array>
#include <deque>
#include <ostream>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/snapshot/snapshot.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/loader/history/host.hpp"
#include "tests/tools/loader/history/place.hpp"

namespace keysieve::test {

// What can happen to a store and to the hosts that follow it.
inline constexpr int kHistoryKeys = 60;

enum class Action {
  Add,         // to the log; the transaction that it belongs to stays open
  Commit,      // all open transactions
  Import,      // a key that comes into the source without being added to the log
  BeginBuild,  // notes adds_from and reads the source; every other build knows all keys as absent
  FinishBuild,
  Push,  // a whole build
  PublishByHand,
  Look,
  Restart,
  Reboot,
  RollBack,  // to the oldest that is kept
  CollectGarbage,
  StoreDown,
  StoreUp,
  Replicate,
  FailOver,  // to the replica: what came after is lost
};

struct Step {
  Action action;
  int number;  // of a key or a host

  friend std::ostream& operator<<(std::ostream& out, const Step& step) {
    constexpr std::array kNames{"Add",         "Commit",  "Import",        "BeginBuild",
                                "FinishBuild", "Push",    "PublishByHand", "Look",
                                "Restart",     "Reboot",  "RollBack",      "CollectGarbage",
                                "StoreDown",   "StoreUp", "Replicate",     "FailOver"};
    return out << kNames.at(static_cast<std::size_t>(step.action)) << " " << step.number;
  }
};

inline rc::Gen<Step> any_step() {
  const auto action = rc::gen::weightedElement<Action>({{12, Action::Add},
                                                        {3, Action::Commit},
                                                        {2, Action::Import},
                                                        {2, Action::BeginBuild},
                                                        {2, Action::FinishBuild},
                                                        {4, Action::Push},
                                                        {1, Action::PublishByHand},
                                                        {12, Action::Look},
                                                        {2, Action::Restart},
                                                        {1, Action::Reboot},
                                                        {2, Action::RollBack},
                                                        {1, Action::CollectGarbage},
                                                        {1, Action::StoreDown},
                                                        {3, Action::StoreUp},
                                                        {1, Action::Replicate},
                                                        {1, Action::FailOver}});
  return rc::gen::construct<Step>(action, rc::gen::inRange(0, kHistoryKeys));
}

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
