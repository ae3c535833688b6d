// Where the snapshots of one set come from: its store, or this host's cache.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tools/loader/config/config.hpp"
#include "tools/loader/refresh/candidate.hpp"
#include "tools/loader/refresh/snapshot_cache.hpp"
#include "tools/loader/report/set_log.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {

class SnapshotSource {
 public:
  // All must outlive it. `on_progress` is called now and then while a snapshot is pulled; false throws
  // Stopped.
  SnapshotSource(const SetConfig& config, const std::string& store_name, const SnapshotCache& cache,
                 const std::function<bool()>& on_progress, SetLog& log)
      : config_(config), store_name_(store_name), cache_(cache), on_progress_(on_progress), log_(log) {}

  // The store's current snapshot; from the cache if that holds the one in the pointer record, so that a
  // build that was saved but could not be published is not pulled again. Throws as pull() does.
  [[nodiscard]] Candidate fetch(Store& store, const PointerRecord& pointer) const;
  // Nothing when the cache has none. Throws as SnapshotCache::load() does.
  [[nodiscard]] std::optional<Candidate> newest_cached() const;

 private:
  [[nodiscard]] std::optional<Candidate> fetch_cached(const PointerRecord& pointer) const;
  [[nodiscard]] std::optional<SnapshotBytes> load(const BuildId& build_id) const;
  [[nodiscard]] std::string source_of(const std::string& place) const {
    return "set " + config_.name + " of " + place;
  }
  [[nodiscard]] std::string cache_as_source() const {
    return source_of("the cache " + cache_.path_of(config_.name));
  }

  const SetConfig& config_;
  const std::string& store_name_;
  const SnapshotCache& cache_;
  const std::function<bool()>& on_progress_;
  SetLog& log_;
};

}  // namespace keysieve
