#include "tools/loader/loader.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "tools/loader/config/private_cache.hpp"
#include "tools/loader/report/refresh_outcome.hpp"
#include "tools/program/durable_file.hpp"
#include "tools/program/units.hpp"
#include "tools/status/seen_set_facts.hpp"

namespace keysieve {

Loader::Loader(const LoaderConfig& config, std::function<bool()> on_progress,
               std::vector<FileDescriptor> locks)
    : directory_(config.directory),
      is_once_(config.is_once),
      on_progress_(std::move(on_progress)),
      locks_(std::move(locks)),
      left_seen_sets_(config) {
  prepare_cache(config.cache);
  const auto store_named = [this](const std::string& name) -> WatchedStore& {
    return *std::ranges::find(stores_, name, &WatchedStore::name);
  };
  for (const StoreConfig& store : config.stores)
    stores_.push_back({.name = store.name,
                       .connection = {store_opener(store.url), store.shown, store.poll_interval},
                       .poll_interval = store.poll_interval});
  for (const SetConfig& set : config.sets) {
    WatchedStore& store = store_named(set.store);
    store.sets.push_back(&refreshers_.emplace_back(set, config, store.connection, on_progress_));
  }
  for (const SeenConfig& seen : config.seen) {
    WatchedStore* store = seen.store.empty() ? nullptr : &store_named(seen.store);
    SeenKeeper& keeper = keepers_.emplace_back(seen, config, store ? &store->connection : nullptr, &locks_);
    if (store) store->seen_sets.push_back(&keeper);
  }
  stores_.remove_if([](const WatchedStore& store) { return store.sets.empty() && store.seen_sets.empty(); });
  if (!config.seen.empty() && is_shm_rmid_forced()) spdlog::warn("{} [seen_memory_may_go]", kShmRmidForced);
}

void Loader::round() {
  for (SetRefresher& refresher : refreshers_) {
    if (!on_progress_()) return;
    refresher.publish_cached(std::chrono::steady_clock::now());
  }
  do look_at_seen_sets();
  while (std::ranges::any_of(keepers_, &SeenKeeper::is_restoring) && on_progress_());
  const SteadyTime now = std::chrono::steady_clock::now();
  for (WatchedStore& store : stores_) {
    if (now < store.due_at()) continue;
    const bool is_done = refresh_all(store);
    store.connection.close();
    if (!is_done) return;
    const Milliseconds interval = store.connection.is_away()
                                      ? std::min(store.poll_interval, StoreConnection::kRoundsWhileAway)
                                      : store.poll_interval;
    store.round_due_at = std::chrono::steady_clock::now() + with_jitter(interval, random_);
  }
}

void Loader::look_at_seen_sets() {
  if (const SteadyTime now = std::chrono::steady_clock::now(); now >= left_seen_sets_due_at_) {
    left_seen_sets_.look(unix_now());
    left_seen_sets_due_at_ = now + std::chrono::seconds(1);
  }
  for (SeenKeeper& keeper : keepers_) {
    if (std::chrono::steady_clock::now() < keeper.due_at()) continue;
    if (!on_progress_()) return;
    keeper.look(std::chrono::steady_clock::now(), moment_now());
  }
  locks_.clear();  // what no set has taken, for example of another directory
}

void Loader::follow_clock_of_seen_sets() {
  for (SeenKeeper& keeper : keepers_) keeper.follow_clock(std::chrono::steady_clock::now(), moment_now());
}

void Loader::save_seen_sets() {
  for (WatchedStore& store : stores_) store.connection.append_again_now();
  for (SeenKeeper& keeper : keepers_) {
    keeper.begin_save(moment_now());
    while (keeper.has_more()) {
      on_progress_();
      keeper.look(std::chrono::steady_clock::now(), moment_now());
    }
  }
}

SteadyTime Loader::round_due_at() const {
  SteadyTime earliest = SteadyTime::max();
  for (const WatchedStore& store : stores_) earliest = std::min(earliest, store.due_at());
  return earliest;
}

// False if it was told to end. The watch comes first, so that nothing changes unnoticed between the two.
// Before a new watch, the store may have been replaced.
bool Loader::refresh_all(WatchedStore& store) {
  if (!on_progress_()) return false;
  const bool is_watch_new = !is_once_ && store.connection.begin_watch(std::chrono::steady_clock::now());
  if (is_watch_new) std::ranges::for_each(store.seen_sets, &SeenKeeper::wake);
  for (SetRefresher* set : store.sets) {
    if (!on_progress_()) return false;
    if (is_watch_new || is_once_) set->read_log_again();
    set->refresh(std::chrono::steady_clock::now());
  }
  return true;
}

LoaderReport Loader::report() {
  LoaderReport report{.directory = directory_, .is_ready = is_ready(), .made_at = SteadyTime::clock::now()};
  for (SetRefresher& set : refreshers_) report.sets.push_back(set.recorder().latest());
  for (const WatchedStore& store : stores_) {
    if (store.connection.was_asked())
      report.stores.push_back({store.name, store.connection.name(), store.connection.failure()});
  }
  for (const SeenKeeper& keeper : keepers_) report.seen.push_back(keeper.report());
  return report;
}

void Loader::try_again_now() {
  for (WatchedStore& store : stores_) {
    store.connection.try_again_now();
    store.round_due_at = {};
  }
  for (SetRefresher& refresher : refreshers_) refresher.try_again_now();
  for (SeenKeeper& keeper : keepers_) keeper.try_again_now();
}

std::vector<int> Loader::descriptors() const {
  std::vector<int> all;
  for (const WatchedStore& store : stores_) {
    if (const StoreWatch* watch = store.connection.watch()) all.push_back(watch->descriptor());
  }
  return all;
}

bool Loader::has_more() const {
  return std::ranges::any_of(refreshers_, &SetRefresher::has_more) ||
         std::ranges::any_of(keepers_, &SeenKeeper::has_more);
}

SteadyTime Loader::due_at() const {
  if (has_more()) return {};
  SteadyTime earliest = SteadyTime::max();
  for (const SeenKeeper& keeper : keepers_) earliest = std::min(earliest, keeper.due_at());
  return earliest;
}

bool Loader::refresh_woken() {
  bool any = false;
  for (WatchedStore& store : stores_) {
    const std::vector<std::string> changed = store.connection.take_changes();
    const auto is_concerned = [&changed](const std::string& set_name) {
      return std::ranges::any_of(changed,
                                 [&](const std::string& name) { return may_concern(name, set_name); });
    };
    for (SeenKeeper* set : store.seen_sets) {
      if (is_concerned(set->report().name)) set->wake();
    }
    for (SetRefresher* set : store.sets) {
      if (!is_concerned(set->set_name()) && !set->has_more()) continue;
      if (!on_progress_()) return true;
      const bool is_of_adds_alone = std::ranges::all_of(changed, [set](const std::string& name) {
        return is_adds_log(name) || !may_concern(name, set->set_name());
      });
      const SteadyTime now = std::chrono::steady_clock::now();
      if (!set->take_adds(now, is_of_adds_alone ? Changed::Adds : Changed::Anything)) set->refresh(now);
      any = true;
    }
  }
  return any;
}

std::vector<int> Loader::hand_over(const LoaderConfig& next) {
  for (WatchedStore& store : stores_) store.connection.close();
  const auto goes_on = [&](const auto& sets, const std::string& name) {
    return next.directory == directory_ &&
           std::ranges::any_of(sets, [&name](const auto& set) { return set.name == name; });
  };
  for (const SetRefresher& refresher : refreshers_) {
    if (goes_on(next.sets, refresher.set_name())) continue;
    spdlog::info("{}: is not configured any more; its last publication is left as it is",
                 refresher.set_name());
    refresher.leave();
  }
  std::vector<int> locks;
  for (SeenKeeper& keeper : keepers_) {
    const std::string& name = keeper.report().name;
    if (goes_on(next.seen, name)) {
      const std::vector<int> own = keeper.locks();
      locks.insert(locks.end(), own.begin(), own.end());
      continue;
    }
    spdlog::info("{}: is not configured any more; it ends when its windows are over", name);
    keeper.leave(unix_now());
  }
  return locks;
}

std::optional<std::string> Loader::unsaved_adds() {
  for (SetRefresher& refresher : refreshers_) {
    if (auto unsaved = refresher.unsaved_adds()) return unsaved;
  }
  return std::nullopt;
}

bool Loader::is_starting() const {
  const auto was_asked = [](const SetRefresher& set) { return set.outcome().trouble != Trouble::NotAsked; };
  return !std::ranges::all_of(keepers_, &SeenKeeper::was_looked_at) ||
         !std::ranges::all_of(refreshers_, was_asked);
}

bool Loader::is_ready() const {
  return std::ranges::all_of(keepers_, &SeenKeeper::was_looked_at) &&
         std::ranges::none_of(refreshers_, holds_back_ready, &SetRefresher::outcome);
}

int Loader::exit_status() const {
  int highest = 0;
  for_each_set(
      [&](const std::string&, const Diagnosis& one) { highest = std::max(highest, one.exit_status); });
  return highest;
}

std::string Loader::summary() const {
  constexpr std::size_t kMostShown = 10;
  std::size_t troubles = 0;
  std::string shown;
  for_each_set([&](const std::string& name, const Diagnosis& one) {
    if (!one.is_good() && ++troubles <= kMostShown) shown += fmt::format("; {}: {}", name, one.reason);
  });
  const std::size_t all = refreshers_.size() + keepers_.size();
  if (troubles > kMostShown) shown += fmt::format("; and {} more", format_count(troubles - kMostShown));
  return fmt::format("{} of {} current{}", all - troubles, format_count_of(all, "set"), shown);
}

}  // namespace keysieve
