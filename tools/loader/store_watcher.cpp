#include "tools/loader/store_watcher.hpp"

#include <spdlog/spdlog.h>

namespace keysieve {

bool StoreWatcher::begin(SteadyTime now) {
  if (watch_ || cannot_watch_ || !backoff_.is_due(now)) return false;
  const SteadyTime begun = std::chrono::steady_clock::now();
  try {
    watch_ = open_()->watch();
    made_at_ = now;
    cannot_watch_ = !watch_;
  } catch (const Error& error) {
    // The wait begins after the timeout, or the other stores would have no turn but between two timeouts.
    failed(error.what(), now + (std::chrono::steady_clock::now() - begun));
  }
  return watch_ != nullptr;
}

std::vector<std::string> StoreWatcher::take(SteadyTime now) {
  if (!watch_) return {};
  try {
    return watch_->take();
  } catch (const Error& error) {
    failed(error.what(), now);
    return {};
  }
}

void StoreWatcher::drop(SteadyTime now) {
  if (watch_) failed("its store is unreachable", now);
}

// A watch that lasted long starts with the shortest wait again.
void StoreWatcher::failed(const char* reason, SteadyTime now) {
  spdlog::debug("changes cannot be watched for, so the store is polled: {}", reason);
  if (watch_ && now - made_at_ > kLongestBackoff) backoff_.reset();
  watch_.reset();
  backoff_.failed(now);
}

SteadyTime StoreWatcher::due_at() const noexcept {
  return watch_ || cannot_watch_ ? SteadyTime::max() : backoff_.due_at();
}

}  // namespace keysieve
