// Follows the generations of one set: publishes what its store calls current, once that has passed all
// checks, and what the cache holds while nothing is live.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tools/loader/adds/adds_reader.hpp"
#include "tools/loader/refresh/age_limit.hpp"
#include "tools/loader/refresh/cache_keeper.hpp"
#include "tools/loader/refresh/live_set.hpp"
#include "tools/loader/refresh/refresh_step.hpp"
#include "tools/loader/refresh/snapshot_source.hpp"
#include "tools/loader/refresh/store_connection.hpp"
#include "tools/loader/refresh/store_records.hpp"

namespace keysieve {

class GenerationFollower {
 public:
  // All must outlive it. Before each step that may throw, `at` says which one it is.
  GenerationFollower(const SetConfig& config, const LoaderConfig& loader, StoreConnection& store,
                     AddsReader& adds, LiveSet& live, At& at, SetRecorder& recorder, SetLog& log,
                     const std::function<bool()>& on_progress);

  // Publishes the newest snapshot of the cache, if there is one that passes the checks.
  void publish_newest_cached(Publisher& publisher, SteadyTime now);
  // Publishes what the store calls current unless it is live. Throws an Error of the step that has failed,
  // or Stopped.
  void follow(Publisher& publisher, Store& store, const StoreRecords& records, SteadyTime now);
  // Adds that neither the pointer's generations nor what is live need any more.
  void forget_adds(const PointerRecord& pointer);

  // After follow() has thrown: the build is tried again after a backoff, or never if it was refused as a
  // whole.
  void put_off(const Error& error, SteadyTime now);
  // Whether the backoff has passed. It holds for the cache, too.
  [[nodiscard]] bool may_try(SteadyTime now) const noexcept { return backoff_.is_due(now); }
  void try_later(SteadyTime now) { backoff_.failed(now); }
  void try_again_now() {
    backoff_.reset();
    put_off_.reset();
  }

  // Why a reboot would not find what is live, or what this host has seen; empty when nothing has failed.
  [[nodiscard]] const std::string& cache_trouble() const noexcept {
    return keeper_.trouble().empty() ? age_.trouble() : keeper_.trouble();
  }

 private:
  struct PutOff {
    At at;
    Error error;
  };

  void replace(Publisher& publisher, Store& store, const PointerRecord& pointer, SteadyTime now);
  [[nodiscard]] bool is_put_off(const SnapshotRecord& record, SteadyTime now) const;
  [[nodiscard]] NeededAdds adds_of(const SnapshotRecord& record) const;
  std::optional<Candidate> checked_from_cache(SteadyTime now);

  const SetConfig& config_;
  StoreConnection& store_;
  AddsReader& adds_;
  LiveSet& live_;
  At& at_;
  SetRecorder& recorder_;
  SetLog& log_;
  SnapshotCache cache_;
  AgeLimit age_;
  SnapshotSource source_;
  CacheKeeper keeper_;
  Backoff backoff_;
  std::optional<PutOff> put_off_;
  bool has_refused_ = false;  // since the last publish
};

}  // namespace keysieve
