// What a running loader knows about one set that readers cannot see: how far it is behind its store, what
// was refused, how long things took, and what happened lately. It is reported, and changes are logged.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/worker/base/clock.hpp"
#include "tools/loader/config/config.hpp"
#include "tools/loader/config/schedule.hpp"
#include "tools/loader/report/refresh_outcome.hpp"
#include "tools/transfer/guards.hpp"

namespace keysieve {

struct HistoryEntry {
  UnixSeconds at = 0;
  std::string_view event;  // where it is live from, or the name of what was wrong
  std::uint64_t generation = 0;
  std::uint64_t publication = 0;  // 0: there is none
  std::uint64_t key_count = 0;
  std::optional<std::uint64_t> known_absent{};  // nothing: refused, and the store does not say
  std::uint64_t bytes = 0;
  std::optional<double> pull_seconds{};
  std::optional<double> publish_seconds{};
  std::string reason{};  // of a refusal, or the damage
};

// How long something took each time, counted by upper bounds as in a Prometheus histogram.
class Durations {
 public:
  // Seconds. From a set of kilobytes in LMDB to one of gigabytes over a slow network.
  static constexpr std::array kBounds{0.001, 0.01, 0.1, 1.0, 10.0, 100.0};

  void add(double seconds) noexcept {
    ++count_;
    sum_ += seconds;
    for (std::size_t i = 0; i < kBounds.size(); ++i) {
      if (seconds <= kBounds[i]) ++up_to_[i];
    }
  }

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] double sum() const noexcept { return sum_; }
  // How many took kBounds[i] at most.
  [[nodiscard]] std::uint64_t up_to(std::size_t i) const noexcept { return up_to_[i]; }

 private:
  std::array<std::uint64_t, kBounds.size()> up_to_{};
  std::uint64_t count_ = 0;
  double sum_ = 0;
};

// Those that a published set can have, and the lack of them.
inline constexpr std::array kSetTroubles{
    Trouble::None,        Trouble::NotAsked, Trouble::NeverPushed,   Trouble::StoreUnreachable,
    Trouble::CannotLogIn, Trouble::Refused,  Trouble::CannotPublish, Trouble::AddsInMemory,
    Trouble::NotCached,   Trouble::AddsLost};

struct SetReport {
  static constexpr std::size_t kHistoryEntries = 20;

  std::string name;
  std::string store;
  std::optional<double> max_fpr;  // that its configuration allows
  Diagnosis diagnosis{.trouble = Trouble::NotAsked, .exit_status = 0, .reason = ""};
  std::string cache_trouble;                // why what is live is not in the cache; empty: it is
  std::uint64_t store_generation = 0;       // what the store calls current; 0: not known
  std::optional<SteadyTime> waiting_since;  // since when that is not what is live
  std::optional<double> key_change;         // of what is live, as a share of what was live before
  std::uint64_t adds_kept = 0;              // of the adds log, on this host
  std::array<std::uint64_t, kRefusals.size()> refused{};  // generations, as kRefusals
  std::uint64_t damages = 0;                              // how often bytes in shared memory had changed
  Durations pulls;
  Durations publishes;
  std::deque<HistoryEntry> history;  // newest first

  [[nodiscard]] Troubles troubles() const noexcept {
    Troubles all;
    all.add(diagnosis.trouble);
    if (!cache_trouble.empty()) all.add(Trouble::NotCached);
    return all;
  }
};

// What a running loader knows about one seen set that shared memory does not show.
struct SeenReport : Diagnosis {
  std::string name;
  std::string store;              // empty: nothing is saved
  bool is_full = false;           // its newest window got more keys than its filters are made for
  UnixSeconds saved_at = 0;       // 0: not since the last reload
  std::uint64_t keys_saved = 0;   // sent to the store, since the last reload
  std::uint64_t keys_merged = 0;  // taken over from other hosts, since the last reload
  std::uint64_t saves_lost = 0;   // that the store should have had when the set was restored

  [[nodiscard]] Troubles troubles() const noexcept {
    Troubles all;
    all.add(trouble);
    if (is_full) all.add(Trouble::SeenFull);
    return all;
  }
};

// Keeps the report of one set while the loader works on it, and logs each change once, not at every look.
class SetRecorder {
 public:
  explicit SetRecorder(const SetConfig& set);

  [[nodiscard]] const SetReport& report() const noexcept { return report_; }
  // The same, which stays as it is. Copied only if it has changed since the last call.
  [[nodiscard]] const std::shared_ptr<const SetReport>& latest();

  // A snapshot was pulled from the store.
  void pulled(double seconds) { report_.pulls.add(seconds); }
  void published(const LivePublication& live, bool from_cache, double seconds,
                 std::optional<double> pull_seconds = std::nullopt);
  // What is live. A publication that was not reported is one by another process, which may have ended before
  // this one began, or the same snapshot with a larger live layer.
  void found(const LivePublication& live);
  // Comes once per build into the history, however often it is retried; counts as one of kRefusals, if it is.
  void refused(const SnapshotRecord& record, ErrorKind refusal, const std::string& reason);
  // Bytes of it, or of the live layer, had changed since they were written.
  void damaged(const PublicationId& current, const std::string& reason);
  // What the store calls current, and whether that is live.
  void compared(const SnapshotRecord& current, bool is_live, SteadyTime now);
  // Until when the store bypasses the set; nothing: it does not.
  void bypassed(std::optional<UnixSeconds> until);
  // An entry of the adds log is skipped. Logged once for each `kind`, with `what` it is.
  void skipped(std::string_view kind, const std::string& what);
  // The cache cannot be used, which costs nothing as long as the store answers. Logged once, until kept().
  void cache_failed(const std::string& reason);
  // Why what is live is not in the cache; or that it is.
  void not_kept(const std::string& reason);
  void kept();
  // The end of a look.
  void looked(const RefreshOutcome& outcome, std::uint64_t adds_kept);
  void took_adds(std::uint64_t adds_kept);

 private:
  void say(const RefreshOutcome& outcome);
  void is_live_now(HistoryEntry entry, const LivePublication& live);
  void remember(HistoryEntry entry);

  SetReport report_;
  std::shared_ptr<const SetReport> latest_;   // nullptr: not as it is now
  std::optional<LivePublication> last_live_;  // in the history
  std::optional<std::pair<BuildId, ErrorKind>> last_refused_;
  std::optional<RefreshOutcome> said_;
  std::optional<UnixSeconds> said_bypass_;
  bool has_said_cache_trouble_ = false;
  std::set<std::string, std::less<>> said_skipped_;
};

}  // namespace keysieve
