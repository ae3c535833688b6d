// All sets of one configuration. A round refreshes them one after the other; between rounds, those that the
// watches of their stores name. What matters is in shared memory and in the cache.
#pragma once

#include <algorithm>
#include <functional>
#include <list>
#include <random>
#include <string>
#include <vector>

#include "core/builder/base/random.hpp"
#include "tools/loader/config/config.hpp"
#include "tools/loader/refresh/set_refresher.hpp"
#include "tools/loader/report/loader_report.hpp"
#include "tools/loader/seen/left_seen_sets.hpp"
#include "tools/loader/seen/seen_keeper.hpp"

namespace keysieve {

class Loader {
 public:
  // `on_progress` is called before each set and while a snapshot is pulled. False ends the round there, and
  // it must stay false: an interrupted pull is not published. `locks` are those of seen sets that this
  // process already holds.
  Loader(const LoaderConfig& config, std::function<bool()> on_progress,
         std::vector<FileDescriptor> locks = {});
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // Refreshes the sets of the stores that are due: one poll interval, give or take its jitter, after their
  // last round. A set in trouble does not stop the others from being refreshed. Before the first store is
  // asked, sets with nothing live are published from the cache. Then seen sets are begun or restored. From
  // then on, stores that can report changes wake us.
  void round();
  // When the next store is due.
  [[nodiscard]] SteadyTime round_due_at() const;
  // The next round asks every store, even one that has just failed, and is due at once.
  void try_again_now();

  // Does the next step of what is due for each seen set; follows their clock alone while something else takes
  // long.
  void look_at_seen_sets();
  void follow_clock_of_seen_sets();

  // A set was left half-way: a long log is read in several looks, and a seen set is kept in steps.
  [[nodiscard]] bool has_more() const;

  // What to poll for, until when at the longest.
  [[nodiscard]] std::vector<int> descriptors() const;
  [[nodiscard]] SteadyTime due_at() const;
  // Refreshes the sets that a watch has named, and those that were left half-way. Whether there was any. If a
  // watch has failed, the next round of its store is due.
  bool refresh_woken();

  // Has the stores keep what was added to seen sets. Before this object ends.
  void save_seen_sets();
  // Before a program with that configuration takes its place: closes the stores, and marks the sets that it
  // does not have in this directory. Returns the descriptors with the locks that it goes on with. If it does
  // not begin after all, the next look opens the stores and takes the marks away.
  std::vector<int> hand_over(const LoaderConfig& next);
  // Why no other program must take its place: adds would be lost. Nothing when they would not.
  [[nodiscard]] std::optional<std::string> unsaved_adds();

  [[nodiscard]] LoaderReport report();

  // A set was not looked at yet.
  [[nodiscard]] bool is_starting() const;
  // As of the last refresh of each: no set holds it back, and every seen set was looked at.
  [[nodiscard]] bool is_ready() const;
  // 0 when every set is live and equal to its store, and every seen set is kept, else the highest of the
  // sets' exit statuses.
  [[nodiscard]] int exit_status() const;
  // "2 of 3 sets current; tags: …"
  [[nodiscard]] std::string summary() const;

 private:
  struct WatchedStore {
    [[nodiscard]] SteadyTime due_at() const { return std::min(round_due_at, connection.watch_due_at()); }

    std::string name;
    StoreConnection connection;
    Milliseconds poll_interval;
    SteadyTime round_due_at{};
    std::vector<SetRefresher*> sets{};
    std::vector<SeenKeeper*> seen_sets{};
  };

  bool refresh_all(WatchedStore& store);
  void for_each_set(const auto& visit) const {
    for (const SetRefresher& set : refreshers_) visit(set.set_name(), set.outcome());
    for (const SeenKeeper& set : keepers_) visit(set.report().name, set.report());
  }

  std::string directory_;
  bool is_once_;
  std::function<bool()> on_progress_;
  std::vector<FileDescriptor> locks_;
  std::list<WatchedStore> stores_;
  std::list<SetRefresher> refreshers_;
  std::list<SeenKeeper> keepers_;
  LeftSeenSets left_seen_sets_;
  SteadyTime left_seen_sets_due_at_{};
  std::mt19937_64 random_{random_value<std::uint64_t>()};
};

}  // namespace keysieve
