// Removes what pushes have left in a store and no longer need. Used by push and the verb gc.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/builder/base/log_positions.hpp"
#include "core/worker/base/clock.hpp"
#include "core/worker/base/error.hpp"
#include "tools/stores/store.hpp"
#include "tools/transfer/pointer_record.hpp"

namespace keysieve {

// Removes the chunks that `pointer` lists as garbage, then drops them from the record in the store. May be
// repeated, and called by several processes at once. Throws as change_pointer() and the store do; the next
// call then removes the rest.
void remove_garbage(Store& store, const std::string& set_name, const PointerRecord& pointer);

// Trims the adds log as far as `pointer` says. Throws as the store does.
void trim_adds(Store& store, const std::string& set_name, const PointerRecord& pointer);

struct CollectSettings {
  UnixSeconds now = unix_now();
  // A push that was announced that long ago counts as interrupted. If it is still running, it begins again.
  std::chrono::seconds abandoned_after = kAbandonedAfter;
  bool dry_run = false;  // changes nothing
};

struct CollectedSet {
  std::string set_name;
  std::uint64_t kept_generations = 0;
  std::uint64_t pending_pushes = 0;
  std::uint64_t removed_pushes = 0;  // whose chunks are removed; dry_run: would be
  std::uint64_t removed_chunks = 0;
  LogPosition adds_trimmed_to{};
  std::optional<Error> failure{};  // why the set was skipped, or not finished
};

struct Collection {
  std::vector<CollectedSet> sets;     // by name
  std::uint64_t foreign_records = 0;  // under the store's prefix, but none of keysieve's: left alone
};

// Chunks done of chunks in all.
using CollectProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

// For every set of the store: removes garbage, abandoned pushes and chunks that no record lists (all chunks
// if the record is gone), and trims the adds log. May run at the same time as pushes, rollbacks and other
// collections. Skips a set whose record is damaged. Reads the names of all records in the store. Throws
// Unavailable, and as the listing does.
Collection collect_garbage(Store& store, const CollectSettings& settings = {},
                           const CollectProgress& progress = {});

}  // namespace keysieve
