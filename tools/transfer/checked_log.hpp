// Reads an adds log on from what was once known of it, and finds out whether it still has that. A key that
// was acknowledged and is gone again must not look as if it had never been there. Used by push and the
// loader.
//
// Example: key 10 was the last one that was known. If the log goes on with key 11, all is well. If it ends
// with key 7, it is behind: it may be a late copy. If it goes on with another key 8, the keys 8 to 10 are
// lost, and perhaps others that were never read.
#pragma once

#include <string>
#include <vector>

#include "core/worker/base/log_position.hpp"
#include "tools/records/pointer_record.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

// A reader's view of the log, as of its last look.
struct KnownLog {
  LogWitness witness{};        // of what was read
  LogPosition behind_since{};  // when it first found that the log lacks some of that; all zero: it has all
  std::uint64_t is_gone = 0;   // 1: there is no log

  friend bool operator==(const KnownLog&, const KnownLog&) = default;
};
static_assert(sizeof(KnownLog) == 80, "it is saved as it is, so it must have no padding");

class CheckedLog {
 public:
  // `trimmed_to`: as far as the reader has heard. The store must outlive it.
  CheckedLog(Store& store, std::string log, const KnownLog& known, const LogPosition& trimmed_to);

  // As Store::read_after(). Begin right before what was known last, or earlier; then read on, or once more
  // from the beginning.
  std::vector<LogEntry> read_after(const LogPosition& after, std::size_t max_entries);
  void read_to_end();

  // What is known by now. `lost_to` has risen if keys are lost: to the highest position that any of them can
  // have had, but at most an hour ahead of the clock.
  [[nodiscard]] const LogWitness& known() const noexcept { return known_; }
  // Then new keys need not come after those that were known.
  [[nodiscard]] bool has_lost() const noexcept { return has_lost_; }
  // At the end of the log: something is missing, or the log is, and nothing has come since.
  [[nodiscard]] bool is_behind() const noexcept { return is_behind_; }

 private:
  void begin(const LogPosition& begun);
  void pass(const LogEntry& key, const LogPosition& trimmed_to);
  void end(const LogFacts& log, const LogPosition& trimmed_to);
  [[nodiscard]] bool is_last_there(const LogPosition& trimmed_to);
  void lose_all(const LogPosition& begun);
  void lose(const LogPosition& up_to);
  void note_loss(const LogPosition& up_to);

  Store& store_;
  std::string log_;
  const KnownLog before_;
  LogWitness known_;
  LogPosition trimmed_to_;
  bool is_found_;           // what was known last was found, or need not be there
  bool is_counted_ = true;  // the next key must be known_.ordinal + 1
  bool has_lost_ = false;
  bool is_behind_ = false;
};

}  // namespace keysieve
