// Restores a seen set after a reboot. Reads the log of its store, decides which windows are still live, and
// reads the log once more to put its tags into them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "core/publisher/seen/seen_writer.hpp"
#include "core/worker/base/clock.hpp"
#include "tools/loader/config/seen_config.hpp"
#include "tools/loader/seen/taken_entries.hpp"

namespace keysieve {

class SeenRestore {
 public:
  // `config` must outlive it. `begun`: now.
  SeenRestore(const SeenConfig& config, const Moment& begun);

  // The next step: one request. False: that was the last one. Then the page is a new one, with all that the
  // log holds and that has not expired; workers do not see it before SeenWriter::show(). Throws as the store
  // and the writer do; do not use this object then.
  bool step(Store& store, SeenWriter& writer, const Moment& now);

  // How many entries the store has lost.
  [[nodiscard]] std::uint64_t saves_lost() const noexcept { return lost_; }

 private:
  // The windows of all entries with the same seed, growth and planned end.
  using WindowKey = std::tuple<std::uint64_t, std::uint64_t, FilterId>;
  struct Found {
    UnixSeconds ended = 0;          // at the earliest, by what its entries say
    std::optional<SeenPlan> own{};  // as this host made it
  };

  [[nodiscard]] bool is_own(const SeenLogEntry& entry) const { return entry.host == config_.host; }
  [[nodiscard]] WindowKey key_of(const SeenLogEntry& entry) const;
  [[nodiscard]] SeenWindow window_of(const FilterId& id, const Found& found) const;
  [[nodiscard]] UnixSeconds end_of(const FilterId& id, const Found& found) const;
  void learn(const SeenLogEntry& entry, const LogPosition& at);
  void decide(Store& store, const std::string& log, SeenWriter& writer);
  void apply(const SeenLogEntry& entry, SeenWriter& writer) const;
  void finish(SeenWriter& writer, const Moment& now) const;

  const SeenConfig& config_;
  const Moment begun_;
  const SeenWindow latest_;  // that another host may have begun, unless its clock is ahead
  LogPosition position_{};
  std::optional<LogPosition> end_;  // of the log, once all of it was read
  HashSeed seed_{};
  bool has_own_ = false;
  std::map<WindowKey, Found> found_;
  std::map<std::uint64_t, std::uint64_t> numbers_;  // the last one of each sender
  RefusedEntries refused_;
  std::uint64_t lost_ = 0;
};

}  // namespace keysieve
