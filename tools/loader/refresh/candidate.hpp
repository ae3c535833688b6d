// A snapshot that may be published next, where it comes from, and the checks that it must pass before.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tools/loader/config/config.hpp"
#include "tools/loader/refresh/snapshot_cache.hpp"
#include "tools/loader/report/set_log.hpp"
#include "tools/status/live_publication.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {

struct Candidate {
  SnapshotRecord record;           // from the cache, with nothing but the generation
  std::optional<Baseline> before;  // the generation before, where the store keeps one
  SnapshotBytes snapshot;
  bool is_cached;
  std::string source;  // for messages
};

inline Baseline baseline_of(const LivePublication& live) {
  return {live.key_count, live.seed, live.value_sample};
}

// What a signed snapshot must not be older than.
struct NewestLive {
  SignedMoment moment;
  const std::string& store_name;  // whose writers could bring an older one back
};

// Checks signature, size and guards, and in a set with a public key that it does not go back behind `newest`
// (nothing: it may). The guards measure it against `before`. Throws one of kRefusals.
void check(const Candidate& candidate, const SetConfig& config, const std::optional<NewestLive>& newest,
           const std::optional<Baseline>& before);

// Where the snapshots of one set come from: its store, or this host's cache.
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
