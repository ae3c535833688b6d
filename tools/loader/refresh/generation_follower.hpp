// Follows the generations of one set: publishes what its store calls current, once that has passed all
// checks, and what the cache holds while nothing is live.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/loader/adds/adds_reader.hpp"
#include "tools/loader/refresh/live_set.hpp"
#include "tools/loader/refresh/set_cache.hpp"
#include "tools/loader/refresh/store_connection.hpp"
#include "tools/loader/report/refresh_outcome.hpp"
#include "tools/records/pointer_record.hpp"
#include "tools/stores/store.hpp"
#include "tools/transfer/store_bypass.hpp"

namespace keysieve {

// What a store says of one set, read in one call: the pointer record, and whether lookups are to be bypassed.
struct StoreRecords {
  std::vector<std::optional<std::string>> texts{};  // of the records that can be read
  std::optional<PointerRecord> pointer{};
  std::optional<Error> pointer_error{};
  StoreBypass bypass_of_all{};
};

// Reads the pointer record and the bypass of all sets. Throws as a Store does.
std::vector<std::optional<std::string>> read_record_texts(Store& store, const std::string& set_name);

// `store_name` is for messages. Throws as a Store does, except for records that cannot be read.
StoreRecords read_store_records(Store& store, const std::string& set_name, const std::string& store_name);

class GenerationFollower {
 public:
  // All must outlive it.
  GenerationFollower(SetWork& set, StoreConnection& store, AddsReader& adds, LiveSet& live)
      : set_(set),
        store_(store),
        adds_(adds),
        live_(live),
        cache_(set.cache, set.config.name, set.config.public_keys) {}

  // Publishes the newest snapshot of the cache, if there is one that passes the checks. Throws as
  // LiveSet::publish() does.
  void publish_newest_cached(Publisher& publisher, SteadyTime now);
  // Publishes what the store calls current unless it is live, and keeps that in the cache, for a reboot
  // without a store. A build that is refused or cannot be published is tried again when the retries are due,
  // and one that was refused as a whole never. Throws as AddsReader::read() does, and LookAgain.
  RefreshOutcome follow(Publisher& publisher, Store& store, const StoreRecords& records, SteadyTime now);
  // Adds that neither the pointer's generations nor what is live need any more.
  void forget_adds(const PointerRecord& pointer);

  void try_again_now() {
    set_.retries.try_again_now();
    put_off_.reset();
  }

 private:
  struct PutOff {
    SnapshotRecord build;
    RefreshOutcome outcome;
    bool is_whole;  // it was fetched, and what is wrong with it stays wrong
  };

  RefreshOutcome replace(Publisher& publisher, Store& store, const PointerRecord& pointer);
  RefreshOutcome refuse(const SnapshotRecord& build, const Error& error, bool is_whole);
  RefreshOutcome put_off(const SnapshotRecord& build, RefreshOutcome outcome, bool is_whole = false);
  [[nodiscard]] Candidate fetch(Store& store, const SnapshotRecord& record);
  void check_candidate(Store& store, const Candidate& candidate, const PointerRecord& pointer);
  std::optional<Candidate> fetch_cached(const SnapshotRecord& record);
  std::optional<Candidate> checked_from_cache(SteadyTime now);

  [[nodiscard]] bool is_signed_set() const noexcept { return !set_.config.public_keys.empty(); }
  void check_follows(const PointerRecord& pointer, const std::string& source);
  SnapshotMoment newest();
  [[nodiscard]] NewestSeen seen_in(const PointerRecord& pointer) const;

  [[nodiscard]] bool is_cached(const LivePublication& live) const noexcept;
  void keep(const Publisher& publisher, const PointerRecord& pointer);
  void use_cache(const std::function<void()>& work);
  void kept();
  [[nodiscard]] std::string cache_as_source() const {
    return "set " + set_.config.name + " of the cache " + cache_.path_of();
  }

  SetWork& set_;
  StoreConnection& store_;
  AddsReader& adds_;
  LiveSet& live_;
  SetCache cache_;
  bool is_kept_ = false;  // false also as long as nothing is known of the cache
  std::optional<PutOff> put_off_;
  std::optional<SnapshotRecord> missed_;  // a chunk of it
  bool has_refused_ = false;              // since the last publish
};

}  // namespace keysieve
