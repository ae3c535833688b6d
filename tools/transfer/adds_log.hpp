// The adds log of a set: keys that were added since a snapshot was built. Used by build, add, push and
// the loader.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/worker/base/clock.hpp"
#include "core/worker/base/set_name.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

// <prefix>:<set>:adds
inline std::string adds_log(const Store& store, const std::string& set_name) {
  return store.prefix() + ":" + checked_set_name(set_name) + ":adds";
}

// Returns true if `name` is that of an adds log, of whatever set.
inline bool is_adds_log(std::string_view name) noexcept {
  return name.ends_with(":adds");
}

// Returns true if the log holds any key.
bool has_keys(Store& store, const std::string& log);
// Returns true if any key was added since the log was trimmed.
inline bool has_adds(Store& store, const std::string& set_name) {
  return has_keys(store, adds_log(store, set_name));
}

// The longest time that a transaction may take from its add to its commit.
inline constexpr std::chrono::minutes kDefaultAddsOverlap{10};

// Returns where the layer over a snapshot begins. Call it before you read the snapshot's first key, at
// `read_at_ms` (Unix milliseconds, not in the future; nothing: now). The position is `overlap` earlier: with
// "add, then commit", an entry that is in the log already may belong to a row that is not visible yet. An
// earlier end of the log counts instead of `read_at_ms`: a store whose clock is behind numbers its entries by
// it. So the log's end is moved to now first, unless the store does not allow it.
LogPosition adds_from(Store& store, const std::string& set_name, std::optional<std::int64_t> read_at_ms,
                      std::chrono::milliseconds overlap = kDefaultAddsOverlap);

// When a build must have begun, with the default overlap, to have all keys that were added up to there.
UnixSeconds builds_help_after(const LogPosition& lost_to) noexcept;

// How far the adds log is trimmed: what the pointer record says (all zero without one), or more if the log
// itself does, because the record was lost or is an older copy.
LogPosition adds_trimmed_to(Store& store, const std::string& set_name, const LogPosition& by_pointer);

// Which part of the adds log a snapshot needs.
struct NeededAdds {
  // The entries above it are read.
  LogPosition from{};
  // A log that was trimmed further has lost keys that may not be in the snapshot.
  LogPosition trimmed_at_most{};
};
// `adds_from` is all zero in a snapshot that was built without looking at the log. Then the log is read from
// its beginning, and must reach back to the default overlap before as_of.
NeededAdds adds_needed_by(const LogPosition& adds_from, UnixSeconds as_of) noexcept;

// Appends keys to the adds log of a set, many per call of the store, each of which is followed by one of
// `on_appended` with the number of keys that the store has confirmed. Returns the position of the last one.
// Throws Usage for a wrong set name, and as Store::append() does; earlier keys may then be in the log, and
// adding them again is harmless.
LogPosition append_adds(Store& store, const std::string& set_name, std::span<const std::string> keys,
                        const std::function<void(std::uint64_t appended)>& on_appended);

}  // namespace keysieve
