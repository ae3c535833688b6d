// Follows what the watch of one store says. A watch that cannot be made, or that fails, is tried again after
// a backoff; until then the loader's rounds find the changes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/loader/refresh/store_connection.hpp"

namespace keysieve {

class StoreWatcher {
 public:
  explicit StoreWatcher(OpenStore open, Milliseconds shortest_backoff = kShortestBackoff)
      : open_(std::move(open)), backoff_(shortest_backoff, kLongestBackoff) {}

  // Makes a watch if there is none and one is due. True for a new watch: it cannot know what changed before
  // it, so everything must be looked at once more.
  bool begin(SteadyTime now);
  // What to poll for; -1 without a watch.
  [[nodiscard]] int descriptor() const { return watch_ ? watch_->descriptor() : -1; }
  // What StoreWatch::take() says. Does not wait.
  std::vector<std::string> take(SteadyTime now);
  [[nodiscard]] bool is_watching() const noexcept { return watch_ != nullptr; }
  // Its store has failed, so the watch cannot be relied on: its connection may be dead without notice.
  void drop(SteadyTime now);

  // When begin() tries again to make a watch; SteadyTime::max() while there is one.
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
