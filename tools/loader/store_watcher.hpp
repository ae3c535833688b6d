// Follows what the watch of one store says about its logs. A watch that cannot be made, or that fails, is
// tried again after a backoff; until then the loader's rounds find the changes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/loader/refresh/store_connection.hpp"

namespace keysieve {

class StoreWatcher {
 public:
  explicit StoreWatcher(OpenStore open, Milliseconds shortest_backoff = kShortestBackoff)
      : open_(std::move(open)), backoff_(shortest_backoff, kLongestBackoff) {}

  // Waits for entries after the positions that were seen; call it after each take(). Makes a watch if there
  // is none and one is due, even without logs, so that a store that was away is found again. True for a new
  // watch: it cannot know what changed before it, so everything must be looked at once more.
  bool arm(std::span<const WatchedLog> logs, SteadyTime now);
  // What to poll for.
  [[nodiscard]] std::vector<int> descriptors() const;
  // The names of the logs that may have something new. Does not wait.
  std::vector<std::string> take(SteadyTime now);
  [[nodiscard]] bool is_watching() const noexcept { return watch_ != nullptr; }
  // Its store has failed, so the watch cannot be relied on: its connection may be dead without notice.
  void drop(SteadyTime now);

  // When arm() tries again to make a watch; SteadyTime::max() while there is one.
  [[nodiscard]] SteadyTime due_at() const noexcept;

 private:
  static constexpr Milliseconds kShortestBackoff{500};
  static constexpr Milliseconds kLongestBackoff = std::chrono::seconds(30);

  void failed(const char* reason, SteadyTime now);

  OpenStore open_;
  std::unique_ptr<StoreWatch> watch_;
  SteadyTime made_at_{};
  bool cannot_watch_ = false;  // the store has no way to tell
  Backoff backoff_;
};

}  // namespace keysieve
