// Keeps the snapshot that is live in this host's cache, for a reboot without a store.
#pragma once

#include <exception>
#include <string>

#include "tools/loader/config/schedule.hpp"
#include "tools/loader/refresh/live_set.hpp"
#include "tools/loader/refresh/snapshot_cache.hpp"
#include "tools/loader/report/set_log.hpp"

namespace keysieve {

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

}  // namespace keysieve
