// What was once known of an adds log, by a push or by a host, and whether the log still has it. An entry that
// was acknowledged and is gone again must not look as if it had never been there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/builder/base/log_positions.hpp"
#include "core/worker/base/clock.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

enum class LogState {
  Whole,   // nothing of what was known is missing
  Behind,  // something is, and nothing has come since: it may be a copy that is late
  Lost,    // something is for good
};

struct LogWitness {
  LogPosition begun{};      // of the log; all zero: none was known
  LogPosition read_to{};    // what stood up to here was known
  std::uint64_t count = 0;  // of the keys ever appended up to there
  LogPosition lost_to{};    // some of what stood up to here may be lost

  friend bool operator==(const LogWitness&, const LogWitness&) = default;
};

// What stands in the log behind what a witness knew.
struct EntriesSince {
  std::uint64_t keys = 0;
  LogPosition first{};  // all zero: there are none

  void add(std::span<const LogEntry> entries, const LogWitness& known) {
    for (const LogEntry& entry : entries) {
      if (entry.position <= known.read_to) continue;
      if (first == LogPosition{}) first = entry.position;
      if (entry.key && entry.is_counted) ++keys;
    }
  }
};

// Example: ten keys were known. Of these the log loses three and then gets five others. It has counted
// twelve, though five stand behind the ten: two are not enough.
inline LogState state_of(const LogFacts& log, const LogWitness& known, const EntriesSince& since) {
  if (known.begun == LogPosition{}) return LogState::Whole;
  if (log.begun == LogPosition{}) return LogState::Behind;
  if (log.begun != known.begun) return LogState::Lost;
  // Positions rise, unless others were given out in the place of those that are lost.
  if (log.end < known.read_to) return log.count < known.count ? LogState::Behind : LogState::Lost;
  if (log.count >= known.count + since.keys) return LogState::Whole;
  return log.end > known.read_to ? LogState::Lost : LogState::Behind;
}

// Up to where entries may have stood that are lost. Whatever has come since is there. A clock that went back
// gives a new log positions that the one before had, too; a build that is begun now has none in the future.
inline LogPosition lost_to(const LogFacts& log, const LogWitness& known, const EntriesSince& since) {
  const LogPosition next = log.begun != known.begun       ? log.begun
                           : since.first != LogPosition{} ? since.first
                                                          : log.end;
  const LogPosition now = log_position(static_cast<std::uint64_t>(unix_now_ms()), 0);
  return std::max(log_position(milliseconds_of(next), 0), std::min(next_log_position(known.read_to, 0), now));
}

inline LogWitness witness_of(const LogFacts& log, const LogPosition& lost_to) {
  return {.begun = log.begun, .read_to = log.end, .count = log.count, .lost_to = lost_to};
}

}  // namespace keysieve
