// When a process that asks again and again looks at the clock and at the files: at the start of a request,
// then every 250 to 500 ms while calls come at a steady rate. Counting calls is all that the others do.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace keysieve {

class CheckPace {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  // Once per call; true: a check is due. Then plan() says when the next one is.
  [[nodiscard]] bool count_call() noexcept { return --calls_until_check_ == 0; }
  // As the last count_call().
  [[nodiscard]] bool is_due() const noexcept { return calls_until_check_ == 0; }

  // Makes the next call check. Call it at the start of a request. Later calls check every 250 to 500 ms while
  // they come at a steady rate: each one of a process that asks rarely, and at most every 4,096th.
  void check_soon() noexcept {
    calls_until_check_ = 1;
    calls_between_checks_ = std::min(calls_between_checks_, kCallsOfARequest);
  }

  // Twice as many calls as before while they come fast. After a pause each call, since the last ones tell
  // nothing of the next.
  void plan(SteadyTime now) noexcept {
    if (now - checked_at_ > kLongestPause) {
      calls_between_checks_ = 1;
    } else if (now - checked_at_ < kShortestPause) {
      calls_between_checks_ = std::min(calls_between_checks_ * 2, kMostCallsBetweenChecks);
    }
    calls_until_check_ = calls_between_checks_;
    checked_at_ = now;
  }

 private:
  static constexpr std::uint32_t kMostCallsBetweenChecks = 4096;
  // The calls of a request come fast, but those of the next one may be slow.
  static constexpr std::uint32_t kCallsOfARequest = 32;
  // Between two checks, if the rate of calls allows it.
  static constexpr std::chrono::milliseconds kShortestPause{250};
  static constexpr std::chrono::milliseconds kLongestPause{500};

  std::uint32_t calls_until_check_ = 1;
  std::uint32_t calls_between_checks_ = 1;
  SteadyTime checked_at_ = SteadyTime::max();  // max(): the next check tells nothing of the rate
};

}  // namespace keysieve
