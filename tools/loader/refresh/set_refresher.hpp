// Keeps one set in shared memory equal to what the store calls current, with what was added since. Whatever
// goes wrong, what is live stays live.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/shm/publisher.hpp"
#include "tools/loader/adds/adds_reader.hpp"
#include "tools/loader/adds/layer_filler.hpp"
#include "tools/loader/config/config.hpp"
#include "tools/loader/refresh/live_verifier.hpp"
#include "tools/loader/refresh/snapshot_source.hpp"
#include "tools/loader/refresh/store_records.hpp"
#include "tools/loader/report/outcome.hpp"
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

  // When nothing is live, publishes what the cache holds, as refresh() does, but asks no store: one that
  // hangs must not keep it back. What goes wrong is left for refresh() to try again and to say.
  void publish_cached(SteadyTime now);

  // Looks at the store, publishes what is new there and brings in what was added; when nothing is live, first
  // publishes what the cache holds. Holds the set's lock meanwhile. Throws nothing that can be survived.
  const Outcome& refresh(SteadyTime now);

  // As of the last refresh(); before it, what is live is known from publish_cached().
  [[nodiscard]] const Outcome& outcome() const noexcept { return outcome_; }
  [[nodiscard]] const std::string& set_name() const noexcept { return config_.name; }
  [[nodiscard]] const std::string& store_name() const noexcept { return config_.store; }
  [[nodiscard]] const StoreConnection& store() const noexcept { return store_; }

  // What to watch for; nothing when the last refresh has not got so far as to read the log.
  [[nodiscard]] std::optional<WatchedLog> watched_log() const { return adds_.watched_log(); }
  // Adds that would be lost with this object, and why they cannot be saved.
  [[nodiscard]] std::optional<std::string> unsaved_adds();
  // There is more to do at once.
  [[nodiscard]] bool has_more() const noexcept { return adds_.has_more(); }
  // The store's log may be another than before.
  void read_log_again() noexcept { adds_.read_again(); }

  // The next refresh tries again what it would put off, a build that a guard has refused too: what it was
  // measured by may be another now.
  void try_again_now() {
    backoff_.reset();
    put_off_.reset();
  }

 private:
  // A build that did not make it, and what to say while it is not tried again.
  struct PutOff {
    SnapshotRecord record;
    bool for_good;  // else until the backoff has passed
    Outcome outcome;
  };

  Outcome look(SteadyTime now);
  Outcome follow_store(Publisher& publisher, SteadyTime now);
  Outcome follow_pointer(Publisher& publisher, const StoreRecords& records, SteadyTime now);
  Outcome replace(Publisher& publisher, const PointerRecord& pointer, SteadyTime now);

  void begin_look(Publisher& publisher, SteadyTime now);
  void fill_layer(Publisher& publisher, SteadyTime now);
  void find_what_is_live();
  [[nodiscard]] bool is_whole() const noexcept { return live_ && !live_->is_damaged; }
  [[nodiscard]] bool is_live(const SnapshotRecord& record) const;
  void verify(Publisher& publisher, SteadyTime now);

  void publish_newest_cached(Publisher& publisher, SteadyTime now);
  std::optional<Candidate> checked_from_cache(SteadyTime now);
  Candidate fetch(const PointerRecord& pointer, SteadyTime now);
  void publish(Publisher& publisher, const Candidate& candidate);
  void add_to_what_is_live(Publisher& publisher);

  StoreRecords ask_store(SteadyTime now);
  void apply(const StoreBypasses& bypasses);
  void read_adds(const LogPosition& from, AddsReader::Amount amount, SteadyTime now);
  void forget_adds(const LogPosition& up_to);

  Outcome cannot_follow(const Error& error);
  Outcome cannot_publish_now(const Error& error) const;
  enum class Again { AfterBackoff, Never };
  Outcome put_off(const SnapshotRecord& record, Outcome outcome, Again again, SteadyTime now);
  Outcome put_off_refused(const SnapshotRecord& record, const Error& error, Again again, SteadyTime now);
  [[nodiscard]] bool is_put_off(const SnapshotRecord& record, SteadyTime now) const;

  SetConfig config_;
  PublisherSettings publishing_;
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
  Outcome outcome_ = not_asked();
};

}  // namespace keysieve
