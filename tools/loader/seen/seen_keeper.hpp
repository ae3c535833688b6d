// Keeps one seen set: opens it, begins its windows, enlarges the one that gets more keys than planned, and
// retires those that are over. Sends what was added to the store, and takes over what other hosts have sent.
// Workers wait for none of it; while it does not run, windows last longer and nothing is forgotten.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "core/publisher/seen/seen_writer.hpp"
#include "core/worker/base/error.hpp"
#include "tools/loader/config/config.hpp"
#include "tools/loader/refresh/store_connection.hpp"
#include "tools/loader/report/set_report.hpp"
#include "tools/loader/seen/seen_exchange.hpp"
#include "tools/loader/seen/seen_restore.hpp"

namespace keysieve {

class SeenKeeper {
 public:
  // `store`: nullptr if the set has none. `locks`: those that this process has already, and that a new writer
  // takes from there. check_memory as for a SeenWriter. Opens nothing yet.
  SeenKeeper(const SeenConfig& config, const LoaderConfig& loader, StoreConnection* store,
             std::vector<FileDescriptor>* locks = nullptr, CheckMemory check_memory = check_window_memory);

  // How often the clocks, the folder, the memory and the number of keys are looked at. All keys
  // that come in between go into one filter.
  static constexpr Milliseconds kPause{100};

  // After a restore for which there was no memory.
  static constexpr Milliseconds kRestorePause{10'000};

  // Does the next step of what is due, for which it asks the store a few questions. Failures are reported;
  // what is there goes on.
  void look(SteadyTime steady_now, const Moment& now);
  // Something was begun that takes more steps: look() is due at once.
  [[nodiscard]] bool has_more() const noexcept { return restore_ || (is_open() && exchanges_.has_more()); }
  [[nodiscard]] bool is_restoring() const noexcept { return restore_.has_value(); }
  // When look() wants to be called again.
  [[nodiscard]] SteadyTime due_at() const noexcept;
  // The part of look() that asks no store, if it is due: for while something else takes long, and between
  // two looks.
  void follow_clock(SteadyTime steady_now, const Moment& now);
  // The next look() asks the store, even one that has just failed.
  void try_again_now();

  // The log has something new: look() is due. Before the set is open, all of the log is.
  void wake() noexcept {
    if (is_open()) exchanges_.wake();
  }

  // Begins to send what was not sent yet, before the loader ends or is run again, instead of what was under
  // way: look() until there is no more. Bounded by the time limits of the store.
  void begin_save(const Moment& now);
  // The descriptors with its locks.
  [[nodiscard]] std::vector<int> locks() const { return writer_ ? writer_->locks() : std::vector<int>(); }
  // The set is not configured any more: marks it, for LeftSeenSets. The next look takes the mark away.
  void leave(UnixSeconds now) noexcept;

  // Workers can add keys, or the report says why not.
  [[nodiscard]] bool was_looked_at() const noexcept { return is_open() || failure_; }
  [[nodiscard]] const SeenReport& report() const noexcept { return report_; }

 private:
  static void check_window_memory(std::uint64_t bytes);
  [[nodiscard]] bool is_open() const noexcept { return writer_ && !writer_->filters().empty() && !restore_; }
  [[nodiscard]] std::unique_ptr<SeenWriter> new_writer();
  void open(SteadyTime steady_now, const Moment& now);
  void begin(const Moment& now);
  void restore(SteadyTime steady_now, const Moment& now);
  void show_restored(const Store& store, const Moment& now);
  bool adopt();
  void follow_folder();
  void check_clock(UnixSeconds now) const;
  void begin_window(const Moment& now);
  void grow_if_needed(const Moment& now);
  void say_looked(const Moment& now, const Troubles& troubles = {});
  [[nodiscard]] std::optional<Error> loss(const Moment& now) const;
  void show_trouble(const Moment& now);

  SeenConfig config_;
  std::string directory_;
  std::optional<gid_t> group_;
  StoreConnection* store_;
  bool is_once_;
  std::vector<FileDescriptor>* locks_;
  CheckMemory check_memory_;
  std::unique_ptr<SeenWriter> writer_;  // nullptr until its lock is ours
  std::optional<SeenRestore> restore_;  // while it is under way
  SteadyTime look_at_{};
  double keys_then_ = HUGE_VAL;   // that the newest filter had at the last look
  BootSeconds lost_until_ = 0;    // until then loss() counts
  std::optional<Error> failure_;  // of what needs no exchange
  SeenReport report_;
  SeenExchanges exchanges_;
};

}  // namespace keysieve
