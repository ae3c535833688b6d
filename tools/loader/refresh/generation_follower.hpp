// Follows the generations of one set: publishes what its store calls current, once that has passed all
// checks, and what the cache holds while nothing is live.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>

#include "tools/loader/adds/adds_reader.hpp"
#include "tools/loader/refresh/age_limit.hpp"
#include "tools/loader/refresh/candidate.hpp"
#include "tools/loader/refresh/live_set.hpp"
#include "tools/loader/refresh/store_connection.hpp"
#include "tools/loader/report/refresh_outcome.hpp"
#include "tools/stores/store.hpp"
#include "tools/transfer/pointer_record.hpp"
#include "tools/transfer/store_bypass.hpp"

namespace keysieve {

// What a store says of one set, read in one call: the pointer record, and whether lookups are to be bypassed.
struct StoreRecords {
  std::optional<PointerRecord> pointer{};
  std::optional<Error> pointer_error{};
  // Nothing if the pointer record cannot be read and no bypass of all sets is in force: then the set stays
  // bypassed, or not, as it was.
  std::optional<StoreBypasses> bypasses{};
};

// `store_name` is for messages. Throws as a Store does, except for records that cannot be read.
StoreRecords read_store_records(Store& store, const std::string& set_name, const std::string& store_name);

// Switches this host's set as they say. Returns until when it is bypassed, as bypassed_until() does. Throws
// as set_store_bypass() of core does.
std::optional<UnixSeconds> apply(const StoreBypasses& bypasses, const std::string& directory,
                                 const std::string& set_name);

// Keeps the snapshot that is live in this host's cache, for a reboot without a store.
class CacheKeeper {
 public:
  // Cache and log must outlive it.
  CacheKeeper(std::string set_name, const SnapshotCache& cache, Milliseconds poll_interval, SetLog& log)
      : set_name_(std::move(set_name)), cache_(cache), log_(log), backoff_(poll_interval) {}

  // Replaces the cached snapshot. A cache that cannot be written is logged and stops nothing.
  void save(std::uint64_t generation, Bytes snapshot, SteadyTime now);
  // Saves the live publication if that failed before, or if this process did not find it in the cache when it
  // began. Tries with a backoff.
  void save_again(const LivePublication& live, const Publisher& publisher, SteadyTime now);

  // Whether a reboot would find that snapshot and no older one.
  [[nodiscard]] bool has(const LivePublication& live) const noexcept;
  // Why it would not; empty when nothing has failed.
  [[nodiscard]] const std::string& trouble() const noexcept { return failure_; }

 private:
  void saved() {
    is_saved_ = true;
    failure_.clear();
    log_.cache_is_well();
  }
  void failed(const std::exception& error, SteadyTime now);

  std::string set_name_;
  const SnapshotCache& cache_;
  SetLog& log_;
  bool is_saved_ = false;  // false also as long as nothing is known of the cache
  Backoff backoff_;
  std::string failure_;
};

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
