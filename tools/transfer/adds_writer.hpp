// Appends keys to the adds log of a set, many per call of the store. Used by `keysieve add`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/stores/store.hpp"

namespace keysieve {

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
