// Takes entries of a seen set's log over into the filters of this host: what an exchange and a restore have
// in common.
#pragma once

#include <optional>
#include <string>

#include "core/publisher/seen/seen_writer.hpp"
#include "core/worker/base/error.hpp"
#include "tools/loader/seen/seen_log.hpp"

namespace keysieve {

// How far the clocks of hosts may be apart, and a clock may be set, without a word. A window of another host
// begins here by so much earlier.
inline constexpr UnixSeconds kSeenClockTolerance = 60;

inline constexpr std::size_t kEntriesAtATime = 16;  // in one request: about 1 MiB

// What was not intact, or could not be taken over.
struct RefusedEntries {
  std::optional<Error> first{};
  std::uint64_t unreadable = 0;
};

// The page goes on with this log. One that has never been saved, or in another store, is sent as a whole.
void begin_log(Store& store, const std::string& log, SeenWriter& writer);
void forget_sent(const SeenWriter& writer) noexcept;

// Calls take(entry, position) for the next entries behind `position`, which moves on, up to `end`. One
// request. Entries that are not intact, and those for which take() throws Data or Incompatible, are refused.
// False: there are no more. Throws as the store and take() do; then `position` is before the entry.
template <typename Take>
bool read_entries(Store& store, const std::string& log, LogPosition& position, RefusedEntries& refused,
                  const Take& take, const std::optional<LogPosition>& end = std::nullopt) {
  const auto found = store.read_after(log, position, kEntriesAtATime);
  for (const LogEntry& one : found) {
    if (end && one.position > *end) return false;
    try {
      ++refused.unreadable;
      const SeenLogEntry entry = decode_seen_log_entry(one.key, store.name() + ": " + log);
      --refused.unreadable;
      take(entry, one.position);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Data && error.kind() != ErrorKind::Incompatible) throw;
      if (!refused.first) refused.first = error;
    }
    position = one.position;
  }
  return !found.empty();
}

// Throws Data: the host of the entry makes other filters.
[[noreturn]] void refuse_plan(const SeenLogEntry& entry);
// The plan of the entry's filter in a window with that first filter. Throws as refuse_plan() if it is not so.
SeenPlan plan_of(const SeenLogEntry& entry, SeenPlan first, const SeenConfig& config);
// Throws Data if the filter would be too full with what another host adds; a part of it may be there then.
void add_tags_of(const SeenLogEntry& entry, const OpenFilter& to, bool is_own);

}  // namespace keysieve
