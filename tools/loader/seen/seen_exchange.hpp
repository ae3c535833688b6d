// Brings a seen set into the log of its store and back: sends what was added, takes over what other hosts
// have sent, restores all after a reboot, and trims what has expired.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/publisher/seen/seen_writer.hpp"
#include "core/worker/base/clock.hpp"
#include "tools/loader/config/seen_config.hpp"
#include "tools/loader/seen/seen_log.hpp"

namespace keysieve {

// How far the clocks of hosts may be apart, and a clock may be set, without a word. A window of another host
// begins here by so much earlier.
inline constexpr UnixSeconds kSeenClockTolerance = 60;

// The moment of a look, which moves on while the look waits for the store: keys that come meanwhile, from
// workers or other hosts, are kept from then on. In whole seconds, none of which has only begun.
class MovingMoment {
 public:
  explicit MovingMoment(const Moment& begun) noexcept : begun_(begun) {}

  [[nodiscard]] Moment now() const noexcept {
    const BootSeconds passed = (boot_now_ms() - boot_ms_) / 1'000;
    return {begun_.unix + passed, begun_.boot + passed};
  }

 private:
  Moment begun_;
  std::int64_t boot_ms_ = boot_now_ms();
};

// What must outlive the loader is in the set's page. Functions throw as the store does; what was done by then
// need not be done again.
class SeenExchange {
 public:
  // on_progress: called before each request; false ends the work there. It may add filters to the writer, and
  // retire some.
  SeenExchange(const SeenConfig& config, std::function<bool()> on_progress)
      : config_(config), on_progress_(std::move(on_progress)) {}

  // Creates the page with all that the log holds and that has not expired; workers do not see it before
  // SeenWriter::show(). Returns how many entries the store has lost. Throws Superseded too, if it was told to
  // stop.
  std::uint64_t restore(Store& store, SeenWriter& writer, const MovingMoment& moment);

  // Appends the tags that the log does not have. Returns how many. Throws Data too, if a worker takes tags
  // away, so that there would be no end of it.
  std::uint64_t send(Store& store, SeenWriter& writer, const MovingMoment& moment);
  // Adds the tags that other hosts have sent. Returns how many. Reads all of the log, then throws Data or
  // Incompatible if some of it cannot be taken over.
  std::uint64_t receive(Store& store, SeenWriter& writer, const MovingMoment& moment);
  // Removes entries from the log that have expired, by both clocks.
  void trim(Store& store, const SeenWriter& writer, const MovingMoment& moment);

  // Empty before the first use of the store.

 private:
  // What was not intact, or could not be taken over.
  struct Refused {
    std::optional<Error> first{};
    std::uint64_t unreadable = 0;
  };
  struct Unsent;

  void begin_log(Store& store, SeenWriter& writer);
  template <typename Take>
  bool read(Store& store, LogPosition& position, Refused& refused, const Take& take);
  [[nodiscard]] static UnixSeconds ended_at(const OpenFilter& filter, const SeenWriter& writer,
                                            const Moment& now);
  [[nodiscard]] SeenLogEntry new_entry(const OpenFilter& filter, const SeenWriter& writer,
                                       const Moment& now) const;
  [[nodiscard]] Unsent unsent_of(const OpenFilter& filter, std::uint64_t first_word,
                                 SeenLogEntry entry) const;
  [[nodiscard]] bool has_lost_own(Store& store, const SeenLogState& state, const Moment& now);
  void append(Store& store, SeenWriter& writer, const std::vector<std::string>& entries);
  std::uint64_t send_filter(Store& store, SeenWriter& writer, const FilterId& id, const MovingMoment& moment);
  void mark_open_window(Store& store, SeenWriter& writer, const Moment& now);
  std::uint64_t take(const SeenLogEntry& entry, SeenWriter& writer, const Moment& now);
  const OpenFilter& filter_for(const SeenLogEntry& entry, SeenWriter& writer, const Moment& now);
  [[nodiscard]] SeenPlan same_plan(const SeenLogEntry& entry, SeenPlan first) const;
  static std::uint64_t add_tags(const SeenLogEntry& entry, const OpenFilter& to, bool is_own);
  static void finish_restoring(SeenWriter& writer, const std::map<FilterId, UnixSeconds>& ended,
                               const Moment& now);

  const SeenConfig& config_;
  std::function<bool()> on_progress_;
  std::string log_;
  std::map<FilterId, std::uint64_t> sent_;  // tags of each filter
  UnixSeconds marked_at_ = 0;
  BootSeconds looked_for_own_at_ = 0;
};

}  // namespace keysieve
