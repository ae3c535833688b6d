// Everything that keysieved's HTTP answers show, at one moment: what readers of shared memory see, and what
// the loader has reported last.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/worker/shm/attachment.hpp"
#include "tools/loader/config/schedule.hpp"
#include "tools/loader/report/loader_report.hpp"
#include "tools/status/fields.hpp"

namespace keysieve {

// How evenly the keys of a snapshot are spread over its shards, for the status page.
struct ShardDistribution {
  bool is_of_fill_ratios = true;  // else, where the kind has none, of keys per shard
  double lowest = 0;
  double highest = 0;
  double mean = 0;
  std::uint64_t shard_count = 0;
  std::vector<std::uint64_t> bins;  // how many shards, in bins of equal width from lowest to highest
};

// The pulse of the loader's main loop.
struct Heartbeat {
  std::chrono::duration<double> age{};  // since its last sign of life
  bool is_alive = true;
};

inline Heartbeat heartbeat_of(const LoaderReport& report, SteadyTime now, const HealthLimits& limits) {
  const auto age = std::max(now - report.made_at, SteadyTime::duration(0));
  return {.age = age, .is_alive = age <= limits.longest_silence};
}

// A set's facts from shared memory, and those that only the loader has.
struct LoadedSet : SetFacts {
  std::shared_ptr<const SetReport> loader;  // never nullptr
  double store_lag_seconds = 0;  // how long the current generation of the store has not been live; 0: it is
  std::shared_ptr<const ShardDistribution> shards{};  // nullptr if nothing is published
};

struct LoadedSeenSet : SeenSetFacts {
  SeenReport loader;
};

struct LoaderView {
  std::string host{};
  UnixSeconds now = 0;
  UnixSeconds started_at = 0;
  std::shared_ptr<const LoaderReport> loader;
  Heartbeat heartbeat{};
  std::optional<DirectoryStatus> directory{};  // nothing when it cannot be read
  std::vector<LoadedSet> sets{};               // as configured
  std::vector<LoadedSeenSet> seen{};           // as configured

  // No set is held back by this host, and the loader goes on.
  [[nodiscard]] bool is_ready() const noexcept { return heartbeat.is_alive && loader->is_ready; }
};

// Of each set's last publication, so that it is read once.
using KnownDistributions =
    std::map<std::string, std::pair<PublicationId, std::shared_ptr<const ShardDistribution>>>;

// Reads the shards of each new publication, which takes a moment: a second for some GiB.
LoaderView view_of(std::shared_ptr<const LoaderReport> loader, const Heartbeat& heartbeat,
                   UnixSeconds started_at, KnownDistributions& known);

// /metrics, for Prometheus. docs/metrics.md says what each of them means.
std::string metrics_text(const LoaderView& view);
// /status.json: what `keysieve status --json` prints, plus what only the loader knows. The page shows it.
std::string status_json_text(const LoaderView& view);

}  // namespace keysieve
