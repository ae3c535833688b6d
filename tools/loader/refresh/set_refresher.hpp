// Keeps one set in shared memory equal to the store's current generation plus the keys added since.
// Whatever goes wrong, the live publication stays live.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/loader/adds/adds_reader.hpp"
#include "tools/loader/config/config.hpp"
#include "tools/loader/refresh/generation_follower.hpp"
#include "tools/loader/refresh/live_set.hpp"
#include "tools/loader/report/refresh_outcome.hpp"
#include "tools/loader/report/set_report.hpp"

namespace keysieve {

// What a watch says of a set: that its adds log has changed and nothing else, or that anything may have.
enum class Changed { Adds, Anything };

class SetRefresher {
 public:
  // The store must outlive it. `on_progress` is called now and then while a snapshot is pulled; false ends
  // the refresh there: nothing is published, and the outcome stays that of the refresh before.
  SetRefresher(const SetConfig& config, const LoaderConfig& loader, StoreConnection& store,
               std::function<bool()> on_progress);
  SetRefresher(const SetRefresher&) = delete;
  SetRefresher& operator=(const SetRefresher&) = delete;

  // When nothing is live, publishes from the cache, as refresh() does, but without asking a store, because
  // a store that hangs must not delay it. refresh() retries and reports what goes wrong.
  void publish_cached(SteadyTime now);

  // Looks at the store, publishes what is new there and brings in the keys that were added. When nothing is
  // live, it first publishes from the cache. Holds the set's lock meanwhile. Throws only what cannot be
  // survived.
  const RefreshOutcome& refresh(SteadyTime now);

  // The short way of added keys, for a wake: from the log to the live layer, under the set's lock if there
  // are any. False if refresh() must be called: the set had trouble at the last look, the log does not simply
  // go on, or a record has changed, which is not looked for if the adds alone have.
  bool take_adds(SteadyTime now, Changed changed);

  // As of the last refresh(); before the first one, only what is live, from publish_cached().
  [[nodiscard]] const RefreshOutcome& outcome() const noexcept { return outcome_; }
  [[nodiscard]] const std::string& set_name() const noexcept { return set_.config.name; }
  [[nodiscard]] SetRecorder& recorder() noexcept { return set_.recorder; }

  // Adds that would be lost with this object, and why they cannot be saved.
  [[nodiscard]] std::optional<std::string> unsaved_adds();
  // The set is not configured any more: says so in shared memory, where what is published stays live.
  void leave() const;
  // Whether there is more to do right away.
  [[nodiscard]] bool has_more() const noexcept { return looks_again_ || adds_.has_more(); }
  // To be called when the store's log may have been replaced.
  void read_log_again() noexcept { adds_.read_again(); }

  // The next refresh retries what it would put off, even a build that a guard refused: what the guard
  // compared it with may have changed.
  void try_again_now() { follower_.try_again_now(); }

 private:
  RefreshOutcome look(std::optional<Publisher>& publisher, SteadyTime now);
  void ask(RefreshOutcome& outcome, SteadyTime now, const std::function<void(Store&)>& question);
  void apply_bypass(const StoreRecords& records, const Publisher& publisher);

  SetWork set_;
  StoreConnection& store_;
  AddsReader adds_;
  LiveSet live_;
  GenerationFollower follower_;
  bool looks_again_ = false;
  std::vector<std::optional<std::string>> records_;  // as of the last look
  RefreshOutcome outcome_ =
      in_trouble(Trouble::NotAsked, ErrorKind::Unavailable, "the store was not asked yet");
};

}  // namespace keysieve
