#include "tools/transfer/checked_log.hpp"

#include <algorithm>
#include <chrono>

#include "core/builder/base/log_positions.hpp"
#include "core/worker/base/clock.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kBatchEntries = 256;
// A store whose clock was years ahead must not be of no use for years.
constexpr std::chrono::milliseconds kFurthestAhead = std::chrono::hours(1);

}  // namespace

CheckedLog::CheckedLog(Store& store, std::string log, const KnownLog& known, const LogPosition& trimmed_to)
    : store_(store),
      log_(std::move(log)),
      before_(known),
      known_(known.witness),
      trimmed_to_(trimmed_to),
      is_found_(known_.position == LogPosition{}) {}

std::vector<LogEntry> CheckedLog::read_after(const LogPosition& after, std::size_t max_entries) {
  std::vector<LogEntry> entries = store_.read_after(log_, after, max_entries);
  const LogFacts log = store_.facts_of(log_);
  is_behind_ = log.begun < known_.begun;  // gone, or one from before
  if (is_behind_ || log.begun == LogPosition{}) return entries;
  if (log.begun != known_.begun) begin(log.begun);
  const LogPosition trimmed_to = std::max(trimmed_to_, log.trimmed_to);
  for (const LogEntry& entry : entries) {
    if (entry.position >= known_.position) pass(entry, trimmed_to);
  }
  if (entries.size() < max_entries) end(log, trimmed_to);
  return entries;
}

void CheckedLog::read_to_end() {
  for (LogPosition after = position_before(known_.position);;) {
    const std::vector<LogEntry> entries = read_after(after, kBatchEntries);
    if (entries.size() < kBatchEntries) return;
    after = entries.back().position;
  }
}

void CheckedLog::begin(const LogPosition& begun) {
  if (known_.begun != LogPosition{}) lose_all(begun);
  known_ = {.begun = begun, .lost_to = known_.lost_to};
  is_found_ = true;
  is_counted_ = false;
}

void CheckedLog::pass(const LogEntry& key, const LogPosition& trimmed_to) {
  const bool has_ordinal = key.ordinal != 0;
  if (known_.position == LogPosition{} && is_counted_ && key.ordinal <= known_.ordinal) {
    if (has_ordinal && key.ordinal == known_.ordinal) known_.position = key.position;
    return;  // of the part before, of which only the count is known
  }
  if (key.position == known_.position) {
    is_found_ = true;
    if (has_ordinal && key.ordinal != known_.ordinal) lose(key.position);
  } else {
    const bool is_next = !has_ordinal || !is_counted_ || key.ordinal == known_.ordinal + 1 ||
                         (key.ordinal > known_.ordinal && known_.position < trimmed_to);
    if (!is_last_there(trimmed_to) || !is_next) lose(key.position);
    is_found_ = true;
    if (has_ordinal || is_counted_) known_.position = key.position;
  }
  if (!has_ordinal) return;
  known_.ordinal = key.ordinal;
  is_counted_ = true;
}

void CheckedLog::end(const LogFacts& log, const LogPosition& trimmed_to) {
  const bool has_all = is_last_there(trimmed_to) && log.count >= known_.ordinal;
  const bool is_before = known_.position == LogPosition{} || log.end <= known_.position;
  is_behind_ = !has_all && is_before && log.count <= known_.ordinal;
  if (is_behind_) return;
  // What has come behind it shows that this is no late copy. A higher count: keys at the end are lost.
  if (!has_all || (is_counted_ && log.count > known_.ordinal && known_.position >= trimmed_to)) lose(log.end);
  if (has_all && log.count == known_.ordinal) return;
  known_ = {.begun = known_.begun, .lost_to = known_.lost_to, .ordinal = log.count};
  is_found_ = true;
  is_counted_ = true;
}

// It may have been trimmed since the reader has heard how far. Then all before it is gone, too.
bool CheckedLog::is_last_there(const LogPosition& trimmed_to) {
  if (is_found_ || known_.position <= trimmed_to) return true;
  const std::vector<LogEntry> first = store_.read_after(log_, {}, 1);
  return first.empty() || first.front().position > known_.position;
}

// Another log is in its place, and what is lost came before it began. While there was none, no key can have
// been added.
void CheckedLog::lose_all(const LogPosition& begun) {
  const LogPosition most = std::max(begun, known_.position);
  note_loss(before_.is_gone != 0 ? std::min(most, before_.behind_since) : most);
}

// This log has lost keys, but still has all that came after the gap was found.
void CheckedLog::lose(const LogPosition& up_to) {
  const LogPosition most = std::max(up_to, known_.position);
  note_loss(before_.behind_since == LogPosition{} ? most : std::min(most, before_.behind_since));
}

void CheckedLog::note_loss(const LogPosition& up_to) {
  const auto furthest = static_cast<std::uint64_t>(unix_now_ms() + kFurthestAhead.count());
  known_.lost_to = std::max(known_.lost_to, std::min(up_to, log_position(furthest, 0)));
  has_lost_ = true;
}

}  // namespace keysieve
