// Keeps one set in shared memory equal to the store's current generation plus the keys added since.
// Whatever goes wrong, the live publication stays live.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/publisher/shm/publisher.hpp"
#include "tools/loader/adds/adds_reader.hpp"
#include "tools/loader/adds/layer_filler.hpp"
#include "tools/loader/config/config.hpp"
#include "tools/loader/refresh/live_verifier.hpp"
#include "tools/loader/refresh/snapshot_source.hpp"
#include "tools/loader/refresh/store_records.hpp"
#include "tools/loader/report/refresh_outcome.hpp"
#include "tools/loader/report/set_report.hpp"

namespace keysieve {

class SetRefresher {
 public:
  // Store and recorder must outlive it. `on_progress` is called now and then while a snapshot is pulled;
  // false ends the refresh there: nothing is published, and the outcome stays that of the refresh before.
  SetRefresher(SetConfig config, const LoaderConfig& loader, StoreConnection& store, SetRecorder& recorder,
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

  // As of the last refresh(); before the first one, only what is live, from publish_cached().
  [[nodiscard]] const RefreshOutcome& outcome() const noexcept { return outcome_; }
  [[nodiscard]] const std::string& set_name() const noexcept { return config_.name; }
  [[nodiscard]] const std::string& store_name() const noexcept { return config_.store; }
  [[nodiscard]] const StoreConnection& store() const noexcept { return store_; }

  // The log to watch; nothing when the last refresh did not get as far as reading it.
  [[nodiscard]] std::optional<WatchedLog> watched_log() const { return adds_.watched_log(); }
  // Adds that would be lost with this object, and why they cannot be saved.
  [[nodiscard]] std::optional<std::string> unsaved_adds();
  // The set is not configured any more: says so in shared memory, where what is published stays live.
  void leave() const;
  // Whether there is more to do right away.
  [[nodiscard]] bool has_more() const noexcept { return adds_.has_more(); }
  // To be called when the store's log may have been replaced.
  void read_log_again() noexcept { adds_.read_again(); }

  // The next refresh retries what it would put off, even a build that a guard refused: what the guard
  // compared it with may have changed.
  void try_again_now() {
    backoff_.reset();
    put_off_.reset();
  }

 private:
  // A build that was not published, and the outcome to report until it is tried again.
  struct PutOff {
    SnapshotRecord record;
    bool for_good;  // else until the backoff has passed
    RefreshOutcome outcome;
  };

  RefreshOutcome look(Publisher& publisher, SteadyTime now);
  RefreshOutcome follow_store(Publisher& publisher, SteadyTime now);
  RefreshOutcome follow_pointer(Publisher& publisher, const StoreRecords& records, SteadyTime now);
  RefreshOutcome replace(Publisher& publisher, const PointerRecord& pointer, SteadyTime now);

  void begin_look(Publisher& publisher, SteadyTime now);
  void fill_layer(Publisher& publisher, SteadyTime now);
  void find_what_is_live();
  [[nodiscard]] bool is_whole() const noexcept { return live_ && !live_->is_damaged; }
  [[nodiscard]] bool is_live(const SnapshotRecord& record) const;
  void verify(Publisher& publisher, SteadyTime now);

  void publish_newest_cached(Publisher& publisher, SteadyTime now);
  std::optional<Candidate> checked_from_cache(SteadyTime now);
  Candidate fetch(const PointerRecord& pointer, SteadyTime now);
  void publish(Publisher& publisher, const Candidate& candidate, bool readers_may_stay);
  void add_to_what_is_live(Publisher& publisher);
  [[nodiscard]] bool has_all_adds(const PointerRecord& pointer) const;

  StoreRecords ask_store(SteadyTime now);
  void apply(const StoreBypasses& bypasses);
  void read_adds_of(const SnapshotRecord& record, SteadyTime now);
  void read_adds(const NeededAdds& needed, AddsReader::Amount amount, SteadyTime now);
  void forget_adds(const LogPosition& up_to);

  RefreshOutcome cannot_follow(const Error& error);
  RefreshOutcome cannot_publish_now(const Error& error) const;
  enum class Again { AfterBackoff, Never };
  RefreshOutcome put_off(const SnapshotRecord& record, RefreshOutcome outcome, Again again, SteadyTime now);
  RefreshOutcome put_off_refused(const SnapshotRecord& record, const Error& error, Again again,
                                 SteadyTime now);
  [[nodiscard]] bool is_put_off(const SnapshotRecord& record, SteadyTime now) const;

  SetConfig config_;
  PublisherSettings publishing_;
  Milliseconds poll_interval_;
  bool is_once_;
  StoreConnection& store_;
  SetRecorder& recorder_;
  std::function<bool()> on_progress_;
  SetLog log_;
  SnapshotSource source_;
  AddsReader adds_;
  LayerFiller layers_;
  LiveVerifier verifier_;
  Backoff backoff_;
  std::optional<LivePublication> live_;
  std::optional<PutOff> put_off_;
  RefreshOutcome outcome_ = not_asked();
};

}  // namespace keysieve
