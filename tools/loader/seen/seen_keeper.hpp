// Keeps one seen set: opens it, begins its windows, enlarges the one that gets more keys than planned, and
// retires those that are over. Every so often it exchanges with the store. Workers wait for none of it; while
// it does not run, windows last longer and nothing is forgotten.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/seen/seen_writer.hpp"
#include "tools/loader/config/config.hpp"
#include "tools/loader/refresh/store_connection.hpp"
#include "tools/loader/report/seen_report.hpp"
#include "tools/loader/seen/seen_exchange.hpp"

namespace keysieve {

class SeenKeeper {
 public:
  // `store`: nullptr if the set has none. on_progress as for the Loader. Opens nothing yet.
  SeenKeeper(const SeenConfig& config, const LoaderConfig& loader, StoreConnection* store,
             std::function<bool()> on_progress);

  // How often look() wants to be called.
  static constexpr Milliseconds kPause{1'000};

  // Follows the clock, and exchanges with the store when that is due. Failures are reported; what is there
  // goes on.
  void look(SteadyTime steady_now, UnixSeconds now);
  // The first part alone, which asks no store: for while something else takes long.
  void follow_clock(UnixSeconds now);
  // The next look() asks the store, even one that has just failed.
  void try_again_now();

  // The set is not configured any more: marks it, for LeftSeenSets, or removes it if nothing is in it.
  void leave(UnixSeconds now) noexcept;

  // Workers can add keys, or the report says why not.
  [[nodiscard]] bool was_looked_at() const noexcept { return was_looked_at_; }
  [[nodiscard]] const SeenReport& report() const noexcept { return report_; }

 private:
  struct Failure {
    std::string text;  // empty: none
    int exit_status = 0;
  };

  void open(SteadyTime steady_now, UnixSeconds now);
  void open_from_store(SteadyTime steady_now, UnixSeconds now);
  void close();
  void check_clock(UnixSeconds now) const;
  void retire(UnixSeconds now);
  void begin_window(UnixSeconds now);
  void grow_if_needed();
  void say_full();
  void exchange(SteadyTime steady_now, UnixSeconds now);
  // Runs `work`; what it throws becomes `failure`.
  template <typename Work>
  void with_report(Failure& failure, const Work& work);
  void show_trouble();

  SeenConfig config_;
  std::string directory_;
  std::optional<gid_t> group_;
  StoreConnection* store_;
  bool is_once_;
  std::function<bool()> on_progress_;
  std::optional<SeenExchange> exchange_;
  std::unique_ptr<SeenWriter> writer_;  // nullptr until its lock is ours
  bool is_open_ = false;
  bool was_looked_at_ = false;
  bool is_exchanging_ = false;  // nothing may be retired, though the clock is followed
  SteadyTime exchange_at_{};
  std::uint32_t watched_ = 0;  // number of the newest filter, as of the last look
  double keys_then_ = 0;       // that it had
  Failure clock_failure_;
  Failure store_failure_;
  Failure merge_failure_;
  SeenReport report_;
};

}  // namespace keysieve
