// When to look again, and when a look is overdue. The poll interval has jitter, so that the loaders of many
// hosts do not ask the store at the same moment. The backoff doubles while something fails.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>

#include "core/builder/base/random.hpp"
#include "core/worker/base/clock.hpp"

namespace keysieve {

using SteadyTime = std::chrono::steady_clock::time_point;
using Milliseconds = std::chrono::milliseconds;

inline double seconds_since(SteadyTime begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

// What `then`, which was read when boot_now() gave `then_boot`, is now, after a call that may have taken
// long.
inline Moment moved_on(const Moment& then, BootSeconds then_boot) {
  const BootSeconds took = boot_now() - then_boot;
  return {then.unix + took, then.boot + took};
}

inline constexpr double kJitter = 0.15;  // either way
inline constexpr Milliseconds kLongestBackoff = std::chrono::minutes(5);

inline Milliseconds with_jitter(Milliseconds interval, std::mt19937_64& random) {
  const double factor = std::uniform_real_distribution<double>(1 - kJitter, 1 + kJitter)(random);
  return Milliseconds(std::max<Milliseconds::rep>(
      1, static_cast<Milliseconds::rep>(static_cast<double>(interval.count()) * factor)));
}

// When the heavy work of one set is tried again after it has failed: a fetch, a publication, a larger live
// layer, a save of snapshot or adds. One clock for all of it. What fails for the first time was not waited
// for.
class Retries {
 public:
  // The first wait is `first`, each further one twice as long, up to kLongestBackoff (or `first`, if longer).
  explicit Retries(Milliseconds first)
      : first_(first), wait_(first), random_(random_value<std::uint64_t>()) {}

  void begin_look(SteadyTime now) noexcept {
    is_due_ = now >= retry_at_;
    has_failed_ = false;
  }
  // Whether this look tries again what has failed.
  [[nodiscard]] bool is_due() const noexcept { return is_due_; }
  void failed() noexcept { has_failed_ = true; }
  void end_look(SteadyTime now, bool is_all_well) {
    if (has_failed_) {
      retry_at_ = now + with_jitter(wait_, random_);
      wait_ = std::min(wait_ * 2, std::max(first_, kLongestBackoff));
    } else if (is_all_well) {
      try_again_now();
    }
  }
  void try_again_now() noexcept {
    retry_at_ = {};
    wait_ = first_;
    is_due_ = true;
  }

 private:
  Milliseconds first_;
  Milliseconds wait_;
  SteadyTime retry_at_{};
  bool is_due_ = true;
  bool has_failed_ = false;
  std::mt19937_64 random_;
};

// The limits by which the loader's health is judged.
struct HealthLimits {
  // After this long without a sign of life the loader counts as stuck. WatchdogSec= of keysieved.service
  // and the alert KeysieveLoaderStuck use the same value.
  std::chrono::milliseconds longest_silence = std::chrono::seconds(120);
  // Services that start after the loader, to find sets published, wait no longer than this.
  std::chrono::milliseconds longest_start = std::chrono::seconds(30);
};

// By when a loader will have looked at a set again, unless it has stopped or is stuck: it promises that in
// shared memory. Three intervals, because a look may take long.
inline UnixSeconds next_look_by(UnixSeconds now, std::chrono::milliseconds poll_interval) {
  const auto patience = std::max(HealthLimits().longest_silence, 3 * poll_interval);
  return now + std::chrono::ceil<std::chrono::seconds>(patience).count();
}

}  // namespace keysieve
