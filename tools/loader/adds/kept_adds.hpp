// What a host has received of a set's adds log: the mirror, loaded once and saved as it grows.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/loader/adds/adds_mirror.hpp"
#include "tools/loader/config/schedule.hpp"
#include "tools/loader/report/set_log.hpp"

namespace keysieve {

class KeptAdds {
 public:
  // Retries and log must outlive it.
  KeptAdds(std::string path, Retries& retries, SetLog& log)
      : retries_(retries), log_(log), mirror_(std::move(path)) {}

  // Under the set's lock. Loads it once; after any error but damage it is tried again.
  void load();
  [[nodiscard]] bool is_loaded() const noexcept { return is_loaded_; }
  // All in memory: what is new of a log, what is known of it, and that no snapshot that may still become
  // current needs the entries up to there.
  void take(std::vector<LogEntry> entries);
  void know(const KnownLog& log) { mirror_.know(log); }
  void forget(const LogPosition& up_to) { mirror_.trim(up_to); }
  void save();
  // Tries that even right after a failure. Returns why it cannot be done; nothing when all is saved.
  std::optional<std::string> save_now();
  [[nodiscard]] const std::string& save_failure() const noexcept { return save_failure_; }

  // Durable except for unsaved().
  [[nodiscard]] const AddsMirror& mirror() const noexcept { return mirror_; }
  // Whether it has all that arrived: its file was whole, or the log was read to its end.
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }
  void complete() noexcept { is_complete_ = true; }
  // A position after which everything is that arrived since the last call; nothing when nothing did.
  std::optional<LogPosition> take_news() { return std::exchange(news_, std::nullopt); }

 private:
  Retries& retries_;
  SetLog& log_;
  AddsMirror mirror_;
  std::string save_failure_;  // of the last try; empty: it has not failed
  bool is_loaded_ = false;
  bool is_complete_ = false;
  std::optional<LogPosition> news_;
};

}  // namespace keysieve
