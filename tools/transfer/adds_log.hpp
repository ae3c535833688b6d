// The adds log of a set: keys that were added since a snapshot was built. Used by build, add, push, gc and
// the loader.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// Appends keys to the adds log of a set, many per call of the store. Used by `keysieve add`.
// Memory: one batch, about 1 MiB and a key. One thread. add() and finish() throw as Store::append() does;
// keys from before may be in the log then, and adding them again is harmless.
class AddsWriter {
 public:
  // Throws Usage for a wrong set name.
  AddsWriter(Store& store, const std::string& set_name);

  void add(std::string_view key);
  // Appends what is left. To be called as the last.
  void finish();

  // What the log is known to hold.
  [[nodiscard]] std::uint64_t appended() const noexcept { return appended_; }
  // Nothing before the first.
  [[nodiscard]] const std::optional<LogPosition>& last_position() const noexcept { return last_position_; }

 private:
  Store& store_;
  std::string log_;
  std::vector<std::string> batch_;
  std::size_t batch_bytes_ = 0;
  std::uint64_t appended_ = 0;
  std::optional<LogPosition> last_position_;
};

}  // namespace keysieve
