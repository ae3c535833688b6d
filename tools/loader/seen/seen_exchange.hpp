// One exchange of a seen set with the log of its store: takes over what other hosts have sent, sends what was
// added, and trims what has expired. In steps of a few requests, between which the set may change.
#pragma once

#include <chrono>
#include <optional>

#include "core/publisher/seen/seen_writer.hpp"
#include "core/worker/base/clock.hpp"
#include "tools/loader/config/seen_config.hpp"
#include "tools/loader/refresh/store_connection.hpp"
#include "tools/loader/report/set_report.hpp"
#include "tools/loader/seen/taken_entries.hpp"

namespace keysieve {

// What must outlive it is in the set's page and in `report`.
class SeenExchange {
 public:
  enum class Way { Receive, Send, Both };

  // `config` and `report` must outlive it. `begun`: now. Counts tags in `report`.
  SeenExchange(const SeenConfig& config, SeenReport& report, Way way, const Moment& begun);

  // The next step. False: that was the last one. Throws as the store does, and Data if a worker takes tags
  // away, so that sending would have no end; do not use this object then. What was done need not be done
  // again.
  bool step(Store& store, SeenWriter& writer, const Moment& now);

  [[nodiscard]] bool sends() const noexcept { return way_ != Way::Receive; }
  // What the next step does with the store.
  [[nodiscard]] StoreUse next_use() const noexcept {
    return next_ == Step::Send ? StoreUse::Append : StoreUse::Read;
  }
  // What could not be taken over. Data and Incompatible: it will not be tried again.
  [[nodiscard]] const std::optional<Error>& refused() const noexcept { return refused_.first; }
  // How long to wait before the next one, for what this one took of a processor's time.
  [[nodiscard]] std::chrono::nanoseconds pause() const noexcept;

 private:
  enum class Step { LookForOwn, Receive, Send };
  struct At;
  struct Unsent;

  bool do_step(const At& at);
  [[nodiscard]] bool has_lost_own(const At& at) const;
  bool receive(const At& at);
  void take(const SeenLogEntry& entry, const At& at);
  [[nodiscard]] const OpenFilter& filter_for(const SeenLogEntry& entry, const At& at) const;
  bool send(const At& at);
  [[nodiscard]] SeenLogEntry new_entry(const OpenFilter& filter, const At& at) const;
  [[nodiscard]] static Unsent unsent_of(const OpenFilter& filter, std::uint64_t first_word,
                                        std::uint64_t words, SeenLogEntry entry);
  void trim(const At& at) const;

  const SeenConfig& config_;
  SeenReport& report_;
  const Way way_;
  const UnixSeconds begun_at_;
  Step next_;
  RefusedEntries refused_;
  FilterId sending_{};               // the first filter of which something may be left
  std::uint64_t word_ = 0;           // of it
  std::chrono::nanoseconds took_{};  // of a processor
};

// The exchanges of one set, one after the other: when the next one is due, and what has failed.
class SeenExchanges {
 public:
  // All must outlive it. `store`: nullptr if the set has none.
  SeenExchanges(const SeenConfig& config, StoreConnection* store, bool is_once, SeenReport& report)
      : config_(config), store_(store), is_once_(is_once), report_(report) {}

  // Begins one if it is due, and does its next step. True: it has ended.
  bool step(SteadyTime steady_now, const Moment& now, SeenWriter& writer);
  [[nodiscard]] bool has_more() const noexcept { return exchange_.has_value(); }
  [[nodiscard]] SteadyTime due_at() const noexcept;
  // The log has something new.
  void wake() noexcept { is_woken_ = true; }
  void try_again_now() noexcept { due_at_ = {}; }
  // Begins to send what was not sent yet, instead of the one that is under way.
  void begin_save(const Moment& now);
  // Keys of other hosts are read once, so that their refusal is reported until the next window.
  void begin_window() noexcept;

  // Until one sends.
  [[nodiscard]] const std::optional<Error>& failure() const noexcept { return failure_; }
  // Why keys of other hosts were refused.
  [[nodiscard]] const std::optional<Error>& unmerged() const noexcept { return unmerged_; }

 private:
  void begin_if_due(SteadyTime steady_now, const Moment& now);

  const SeenConfig& config_;
  StoreConnection* store_;
  bool is_once_;
  SeenReport& report_;
  std::optional<SeenExchange> exchange_;  // while it is under way
  bool is_woken_ = false;
  SteadyTime due_at_{};
  std::optional<Error> failure_;
  std::optional<Error> unmerged_;
};

}  // namespace keysieve
