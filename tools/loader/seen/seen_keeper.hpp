// Keeps one seen set: opens it, begins its windows, enlarges the one that gets more keys than planned, and
// retires those that are over. Sends what was added to the store, and takes over what other hosts have sent.
// Workers wait for none of it; while it does not run, windows last longer and nothing is forgotten.
#pragma once

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

  // After a restore for which there was no memory: twice as long each time.
  static constexpr Milliseconds kShortestRestorePause{1'000};
  static constexpr Milliseconds kLongestRestorePause{60'000};

  // Does what is due, but asks the store no more than a question or two. True: there is more to do at once.
  // Failures are reported; what is there goes on.
  bool look(SteadyTime steady_now, const Moment& now);
  // When look() wants to be called again.
  [[nodiscard]] SteadyTime due_at() const noexcept;
  // The part of look() that asks no store, if it is due: for while something else takes long, and between
  // two looks.
  void follow_clock(SteadyTime steady_now, const Moment& now);
  // The next look() asks the store, even one that has just failed.
  void try_again_now();

  // The log has something new: look() is due.
  void wake() noexcept { receives_now_ = true; }

  // Sends what was not sent yet, before the loader ends or is run again. True: there is more, call it again.
  // Bounded by the time limits of the store.
  bool save(SteadyTime steady_now, const Moment& now);
  // The descriptors with its locks.
  [[nodiscard]] std::vector<int> locks() const { return writer_ ? writer_->locks() : std::vector<int>(); }
  // The set is not configured any more: marks it, for LeftSeenSets, or removes it if nothing is in it.
  void leave(UnixSeconds now) noexcept;

  // Workers can add keys, or the report says why not.
  [[nodiscard]] bool was_looked_at() const noexcept { return was_looked_at_; }
  [[nodiscard]] const SeenReport& report() const noexcept { return report_; }

 private:
  using Failure = std::optional<Error>;

  // An exchange with the store that was begun.
  struct Round {
    bool receives = false;  // still
    bool sends = false;
    UnixSeconds begun_at = 0;
    std::chrono::nanoseconds took{};  // of a processor
  };

  static void check_window_memory(std::uint64_t bytes);
  [[nodiscard]] std::unique_ptr<SeenWriter> new_writer();
  bool open(SteadyTime steady_now, const Moment& now);
  void begin(const Moment& now);
  bool restore(SteadyTime steady_now, const Moment& now);
  void show_restored(const Store& store, const Moment& now);
  bool adopt(const Moment& now);
  void follow_folder();
  void note_clock_change(const Moment& now);
  void check_clock(UnixSeconds now) const;
  void begin_window(const Moment& now);
  void grow_if_needed(const Moment& now);
  bool receive(Store& store, const Moment& now);
  bool exchange(Store& store, const Moment& now);
  bool go_round(SteadyTime steady_now, const Moment& now);
  // Runs `work`; what it throws becomes `failure`.
  template <typename Work>
  void with_report(Failure& failure, const Work& work);
  void show_trouble();

  SeenConfig config_;
  std::string directory_;
  std::optional<gid_t> group_;
  StoreConnection* store_;
  bool is_once_;
  std::vector<FileDescriptor>* locks_;
  CheckMemory check_memory_;
  std::optional<SeenRestore> restore_;  // while it is under way
  SeenExchange exchange_;
  std::optional<Round> round_;
  std::unique_ptr<SeenWriter> writer_;  // nullptr until its lock is ours
  bool is_open_ = false;
  bool was_looked_at_ = false;
  bool is_saving_ = false;
  bool receives_now_ = false;
  SteadyTime look_at_{};  // not put off by follow_clock(), which opens nothing
  SteadyTime clock_at_{};
  SteadyTime exchange_at_{};
  Backoff room_{kShortestRestorePause, kLongestRestorePause};  // after a restore that found none
  std::optional<std::int64_t> clock_offset_;                   // of the two clocks, at the last look
  std::uint32_t watched_ = 0;   // segment of the newest filter, as of the last look
  double keys_then_ = 0;        // that it had
  BootSeconds lost_until_ = 0;  // until then lost_ is reported
  Failure clock_failure_;
  Failure store_failure_;
  Failure unmerged_;  // of what other hosts have sent: refused, until the next window, or without room here
  Failure lost_;
  SeenReport report_;
};

}  // namespace keysieve
