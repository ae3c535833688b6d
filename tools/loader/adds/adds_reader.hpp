// Reads the adds log of one set and keeps it in the host's mirror, from which live layers are filled.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/loader/adds/adds_mirror.hpp"
#include "tools/loader/report/set_work.hpp"
#include "tools/records/pointer_record.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/checked_log.hpp"

namespace keysieve {

// What this host has received: the mirror, loaded once and saved as it grows.
class KeptAdds {
 public:
  // `set` must outlive it.
  explicit KeptAdds(SetWork& set) : set_(set), mirror_(set.cache + "/" + set.config.name + ".adds") {}

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
  void mark_complete() noexcept { is_complete_ = true; }
  // A position after which everything is that arrived since the last call; nothing when nothing did.
  std::optional<LogPosition> take_news() { return std::exchange(news_, std::nullopt); }

 private:
  SetWork& set_;
  AddsMirror mirror_;
  std::string save_failure_;  // of the last try; empty: it has not failed
  bool is_loaded_ = false;
  bool is_complete_ = false;
  std::optional<LogPosition> news_;
};

// What has come in a log that simply goes on.
struct AddsNews {
  std::vector<LogEntry> entries;
  LogWitness known;  // of the log, with them
};

class AddsReader {
 public:
  // `set` must outlive it.
  explicit AddsReader(SetWork& set) : set_(set), kept_(set) {}

  // What this host has received, for all but the reading of the log.
  [[nodiscard]] KeptAdds& kept() noexcept { return kept_; }
  [[nodiscard]] const AddsMirror& mirror() const noexcept { return kept_.mirror(); }
  // Before a look: nothing of it is known yet.
  void begin_look() noexcept { reached_ = Reached::Nothing; }

  enum class Amount {
    Some,  // enough for one look; has_more() afterwards where there is more
    All,   // to the end of the log
  };
  // Reads on in the log, starting where it is needed if that part was not read yet. Compares it with what
  // this host has read of it, and at its end with what the last push knew, by `pointer`; not if that is not
  // trusted, as it may be the record of another set. A log that has lost keys is read from its beginning.
  // Throws as a Store does; at the end of the log also Older if what is needed was trimmed before this host
  // has read it, and Data if the log is cut. What had arrived by then is kept.
  void read(Store& store, const NeededAdds& needed, const PointerRecord& pointer, Amount amount,
            bool is_trusted = true);
  // After read() has got to the end: what has come since. Nothing if there is more to it (a long log, one
  // that was trimmed, lost keys or was begun anew): then read() must find out. Throws as a Store does.
  [[nodiscard]] std::optional<AddsNews> find_news(Store& store) const;
  // Under the set's lock. False if they cannot be saved.
  bool merge(AddsNews news);
  // The log may have been replaced, as after a failover: the next read starts from the beginning.
  void read_again() noexcept;
  // Whether the store may have lost some of what is needed: keys that this host has never read, too.
  [[nodiscard]] bool may_have_lost(const NeededAdds& needed) const {
    return is_behind() || lost_to() > needed.trimmed_at_most;
  }
  // A build that needs no keys from before there is right, whatever is lost.
  [[nodiscard]] LogPosition lost_to() const noexcept {
    return std::max(known().witness.lost_to, known().behind_since);
  }
  // The log lacks keys that were known, or is gone; it may come back as it was.
  [[nodiscard]] bool is_behind() const noexcept { return known().behind_since != LogPosition{}; }
  // Whether this look has compared the log to its end.
  [[nodiscard]] bool is_compared() const noexcept { return reached_ == Reached::End; }
  // Whether there are more entries, so that another look is due right away.
  [[nodiscard]] bool has_more() const noexcept { return reached_ == Reached::Some; }
  // Keys up to there are lost, as an earlier process has found; used only if the mirror says nothing.
  void remember_loss(const LogPosition& lost_to);
  // No snapshot that may still become current needs the entries up to there.
  void forget(const LogPosition& up_to);

 private:
  enum class Reached { Nothing, Some, End };

  [[nodiscard]] const KnownLog& known() const noexcept { return mirror().known_log(); }
  void know_witness(const LogWitness& witness);
  void read_on(Store& store, const NeededAdds& needed, const LogPosition& trimmed_to,
               const LogWitness* by_push, Amount amount);
  [[nodiscard]] LogPosition read_up_to() const noexcept;
  void read_from_beginning();
  void forget_what_nobody_needs(const NeededAdds& needed, const LogWitness* by_push);
  void end(Store& store, bool lacks_keys, const NeededAdds& needed, const LogWitness* by_push);
  void compare(Store& store, const std::string& name, bool lacks_keys, const LogWitness* by_push);
  void take(std::vector<LogEntry> entries, const LogWitness& witness);

  SetWork& set_;
  KeptAdds kept_;
  LogPosition seen_{};                    // what stands up to here was read, or skipped
  std::optional<LogPosition> read_from_;  // what stands between here and seen_ was read
  // What stands between read_from_ and here was read once, even if the log was trimmed since.
  LogPosition received_{};
  LogPosition hole_{};                  // some of what stood up to here was trimmed before it was read
  LogWitness pushed_;                   // what the last push knew; the log had it
  Reached reached_ = Reached::Nothing;  // at this look
};

}  // namespace keysieve
