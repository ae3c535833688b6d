// Everything that keysieved's HTTP answers show, at one moment: what readers of shared memory see, and what
// the loader has left on its board.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/loader/http/health.hpp"
#include "tools/loader/http/shard_distribution.hpp"
#include "tools/loader/report/status_board.hpp"
#include "tools/status/directory_status.hpp"
#include "tools/status/seen_set_facts.hpp"
#include "tools/status/set_facts.hpp"

namespace keysieve {

// What shared memory shows of a set, and what only the loader knows of it.
struct LoadedSet : SetFacts {
  std::shared_ptr<const SetReport> loader;          // never nullptr
  std::shared_ptr<const ShardDistribution> shards;  // nullptr if nothing is published, or not asked for
};

struct LoadedSeenSet : SeenSetFacts {
  SeenReport loader;
};

struct LoaderView {
  UnixSeconds now = 0;
  SteadyTime steady_now{};
  LoaderReport loader;
  Heartbeat heartbeat;
  std::optional<DirectoryStatus> directory;  // nothing when it cannot be read
  std::vector<LoadedSet> sets;               // as configured
  std::vector<LoadedSeenSet> seen;           // as configured

  // No set is held back by this host, and the loader goes on.
  [[nodiscard]] bool is_ready() const noexcept { return heartbeat.is_alive && loader.is_ready; }
};

// How long the current generation of the store has not been live; 0: it is.
double store_lag_seconds(const SetReport& report, SteadyTime now) noexcept;

// One thread.
class LoaderViewer {
 public:
  LoaderViewer(const StatusBoard& board, const HealthLimits& limits) : board_(board), limits_(limits) {}

  // Whether to read the shards of all sets. For a new publication that takes a moment: a second for some GiB.
  enum class Shards { Skip, Read };
  LoaderView look(Shards shards);

 private:
  LoadedSet look_at(const std::string& directory, std::shared_ptr<const SetReport> report, Shards shards,
                    UnixSeconds now);

  const StatusBoard& board_;
  const HealthLimits limits_;
  std::map<std::string, KnownDistribution> distributions_;
};

// /metrics, for Prometheus. docs/metrics.md says what each of them means.
std::string metrics_text(const LoaderView& view);
// /status.json: what `keysieve status --json` prints, plus what only the loader knows.
std::string status_json_text(const LoaderView& view);
// /page.json: the same, plus what only the status page shows. May change with the page.
std::string page_json_text(const LoaderView& view);

}  // namespace keysieve
