// Everything that keysieved's HTTP answers show, at one moment: what readers of shared memory see, and what
// the loader has left on its board.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

// How a set is. Notice: it answers, but someone should look. Bad: every lookup answers
// maybe.
enum class Verdict { Good, Notice, Bad };
inline constexpr auto kVerdictNames = std::to_array<std::string_view>({"good", "notice", "bad"});
Verdict verdict_of(const LoadedSet& set) noexcept;

struct LoadedSeenSet : SeenSetFacts {
  SeenReport loader;
};

struct LoaderView {
  UnixSeconds now = 0;
  SteadyTime steady_now{};
  LoaderReport loader;
  Heartbeat heartbeat;
  std::optional<DirectoryStatus> directory;  // nothing when it cannot be read
  std::vector<LoadedSet> sets;               // as configured; for the page, the most urgent come first
  std::vector<LoadedSeenSet> seen;           // as configured

  static constexpr std::size_t kSetsPerPage = 100;
  std::size_t page = 1;
  [[nodiscard]] std::size_t pages() const noexcept {
    return std::max<std::size_t>(1, (sets.size() + kSetsPerPage - 1) / kSetsPerPage);
  }
  // Those on it.
  [[nodiscard]] std::span<const LoadedSet> page_sets() const {
    const std::size_t first = (page - 1) * kSetsPerPage;
    return std::span(sets).subspan(first, std::min(kSetsPerPage, sets.size() - first));
  }

  // No set is held back by this host, and the loader goes on.
  [[nodiscard]] bool is_ready() const noexcept { return heartbeat.is_alive && loader.is_ready; }
};

// The most urgent sets come first on the status page, and have metrics of their own however many sets there
// are: each alert of alerts.yml has its part here. Steps rather than figures, so that the order of good sets
// does not change from look to look.
struct Urgency {
  Verdict verdict = Verdict::Good;
  Trouble trouble = Trouble::None;  // a set's own is higher than its store's
  bool is_not_cached = false;
  bool is_beyond_limits = false;
  int age_step = 0;  // of keys without valid_for: 0 below 48 hours, then one more each time it doubles

  friend auto operator<=>(const Urgency&, const Urgency&) = default;
};
Urgency urgency_of(const LoadedSet& set, const LoaderView& view) noexcept;

// How long the current generation of the store has not been live; 0: it is.
double store_lag_seconds(const SetReport& report, SteadyTime now) noexcept;

// One thread.
class LoaderViewer {
 public:
  LoaderViewer(const StatusBoard& board, const HealthLimits& limits) : board_(board), limits_(limits) {}

  // Whether to read the shards of the page's sets. For a new publication that takes a moment: a second for
  // some GiB.
  enum class Shards { Skip, Read };
  // A page that is not there is the nearest one.
  LoaderView look(Shards shards, std::size_t page = 1);

 private:
  LoadedSet look_at(const std::string& directory, std::shared_ptr<const SetReport> report, Shards shards,
                    UnixSeconds now);

  const StatusBoard& board_;
  const HealthLimits limits_;
  std::map<std::string, KnownDistribution> distributions_;
};

}  // namespace keysieve
