// Keeps the report of one set while the loader works on it. Outlives a reload, not a restart.
#pragma once

#include "tools/loader/set_report.hpp"

namespace keysieve {

class SetRecorder {
 public:
  explicit SetRecorder(std::string set_name) { report_.name = std::move(set_name); }

  [[nodiscard]] const SetReport& report() const noexcept { return report_; }

  // As a configuration has it.
  void configured(std::string store, std::optional<double> max_fpr);
  // A snapshot has come from the store; what is published next is it.
  void pulled(double seconds);
  void published(const LivePublication& live, bool from_cache, double seconds);
  // What is live. A publication that was not reported is somebody else's.
  void found(const LivePublication& live);
  // By one of kRefusals. Each counts once for a build, however often it is tried again.
  void refused(const SnapshotRecord& record, ErrorKind refusal, const std::string& reason);
  // What the store calls current, and whether that is live.
  void compared(const SnapshotRecord& current, bool is_live, SteadyTime now);
  // The end of a look.
  void looked(const SetState& state, std::uint64_t adds_kept);

 private:
  struct Refused {
    BuildId build_id;
    ErrorKind refusal;
    friend bool operator==(const Refused&, const Refused&) = default;
  };

  void is_live_now(HistoryEntry entry, const LivePublication& live);
  void remember(HistoryEntry entry);

  SetReport report_;
  std::optional<double> pull_seconds_;        // of what is to be published
  std::optional<LivePublication> last_live_;  // in the history
  std::optional<Refused> last_refused_;
};

}  // namespace keysieve
