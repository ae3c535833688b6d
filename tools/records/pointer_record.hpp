// The pointer record <prefix>:<set>:current says which snapshot is the current generation, which older ones
// are kept for rollback, what was removed, and whether lookups are bypassed. It is the only record of a set.
// It is JSON text, so that any client of the store can read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/builder/base/log_positions.hpp"
#include "core/worker/snapshot/snapshot.hpp"
#include "tools/records/chunk.hpp"

namespace keysieve {

// What programs decide by and show without the snapshot. All else is in its header, see read_header().
struct SnapshotRecord {
  std::uint64_t generation = 0;
  BuildId build_id{};
  PushId push_id{};
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;  // XXH3-64 of all bytes of the snapshot
  UnixSeconds as_of = 0;
  LogPosition adds_from{};
  std::uint64_t key_count = 0;
  std::uint64_t restores = 0;  // the generation that a rollback brought back; 0: no rollback

  std::string kind;  // by name, which a reader need not know

  [[nodiscard]] std::uint32_t chunk_count() const noexcept {
    return static_cast<std::uint32_t>(chunk_count_of(bytes));
  }

  friend bool operator==(const SnapshotRecord&, const SnapshotRecord&) = default;
};

// What was once known of an adds log, by a push or by a host.
struct LogWitness {
  LogPosition begun{};        // of the log; all zero: none was known
  LogPosition position{};     // of the last key in it that was known; all zero: there was none
  LogPosition lost_to{};      // keys that were added up to here may be lost
  std::uint64_t ordinal = 0;  // of the last key up to there that has one, or that was ever in the log

  friend bool operator==(const LogWitness&, const LogWitness&) = default;
};

inline constexpr std::size_t kKeptGenerations = 3;  // the current one and two before it
// Until when a store bypasses lookups: 0 until it is cleared; nothing if it does not.
using StoreBypass = std::optional<UnixSeconds>;

struct PointerRecord {
  std::optional<SnapshotRecord> current{};  // nothing before the first push is done
  std::vector<SnapshotRecord> previous{};   // newest first, at most kKeptGenerations - 1
  PushId chunks_removed_to{};               // chunks of pushes up to here that are not kept may be gone
  LogPosition adds_trimmed_to{};            // entries of the adds log up to here may be gone
  LogWitness adds_log{};                    // what the last push knew of it
  StoreBypass bypass_until{};               // of this set

  friend bool operator==(const PointerRecord&, const PointerRecord&) = default;
};

// No text comes twice, because each has a random `change_id`. So a compare-and-set that arrives late never
// finds the text that it expects, even if a change was taken back.
std::string encode(const PointerRecord& record);
// `source` names the record in messages. Throws Data; Incompatible for another record format.
PointerRecord decode_pointer_record(std::string_view text, const std::string& source);

// <prefix>:<set>:current. Throws Usage for a wrong set name.
std::string pointer_key(std::string_view prefix, const std::string& set_name);
// The set whose pointer record has that key; nothing for any other key.
std::optional<std::string> set_of_pointer_key(std::string_view prefix, std::string_view key);

// Returns a record with the snapshot's own data; generation and push id are still 0.
SnapshotRecord describe(const SnapshotView& snapshot);

// The changes that push, rollback and delete make to it. Their rules:
//   - A push becomes current only if it is kept, or its id is above `chunks_removed_to`, which never falls.
//     So the chunks of an obsolete push may be removed at any time, by anyone, however late: whatever clocks
//     say, it never becomes current.
//   - Entries of the adds log that a kept generation needs are not trimmed.
//
// Example: push 7 is slow. Push 8 of the next day finds its chunks, sets `chunks_removed_to` to 7 and begins
// to remove them. If push 7 finds all its chunks and reads the record before that, its compare-and-set fails;
// if it reads the record after that, it begins again as push 9.

// Newest first; none before the first push.
std::vector<SnapshotRecord> kept_generations(const PointerRecord& pointer);
// The kept generation of this push; nothing if it has none.
std::optional<SnapshotRecord> find_kept(const PointerRecord& pointer, const PushId& push_id);
// Whether the push is not kept and never becomes current.
bool is_obsolete(const PointerRecord& pointer, const PushId& push_id);
// The newest of all pushes that are kept or obsolete.
PushId newest_push(const PointerRecord& pointer);

// Makes `record` current under the next generation; the current one becomes the first of the previous ones.
// Pushes whose generations are no longer kept become obsolete, with all older ones that are not kept. A build
// that is kept already moves to the front. A build that is current already keeps its generation and only gets
// the chunks of this push.
void make_current(PointerRecord& pointer, SnapshotRecord record);

// Raises adds_trimmed_to up to the first entry that is still needed. Returns true if it rose.
bool release_adds(PointerRecord& pointer);

}  // namespace keysieve
