// The adds log of a set: keys that were added since a snapshot was built. Used by build, add, push, gc and
// the loader.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "tools/stores/store.hpp"

namespace keysieve {

// <prefix>:<set>:adds
std::string adds_log(const Store& store, const std::string& set_name);

// Wakes the loaders that follow a set, once one of its records has changed. What was changed stands even if
// that fails, and they see it at their next poll: returns that as a warning.
std::optional<std::string> wake_loaders(Store& store, const std::string& set_name);

// The same for every set that has a pointer record, after a change that concerns all. Returns the first
// warning; tries all the same to wake those of the other sets.
std::optional<std::string> wake_loaders_of_all(Store& store);

// Whether any key was added since the log was trimmed; notices do not count.
bool has_adds(Store& store, const std::string& set_name);

// The longest time that a transaction may take from its add to its commit.
inline constexpr std::chrono::minutes kDefaultAddsOverlap{10};

// The position from which the layer over a snapshot begins whose keys are read from `read_at_ms` (Unix
// milliseconds, not in the future) on: to be taken before the first key is read. "Add, then commit" means
// that an entry which is there already may belong to a row that is not to be seen yet, hence `overlap`
// before. Before the end of the log where that comes earlier: a store whose clock is behind numbers its
// entries by it, and one that has lost its log begins at zero, which is the whole log.
LogPosition adds_from(Store& store, const std::string& set_name, std::int64_t read_at_ms,
                      std::chrono::milliseconds overlap = kDefaultAddsOverlap);

}  // namespace keysieve
