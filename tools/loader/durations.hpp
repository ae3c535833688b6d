// How long something took, each time: counts by upper bounds, as a Prometheus histogram has them.
#pragma once

#include <array>
#include <cstdint>

namespace keysieve {

class Durations {
 public:
  // Seconds. From a set of kilobytes in LMDB to one of gigabytes over a slow network.
  static constexpr std::array kBounds{0.001, 0.01, 0.1, 1.0, 10.0, 100.0};

  void add(double seconds) noexcept {
    ++count_;
    sum_ += seconds;
    for (std::size_t i = 0; i < kBounds.size(); ++i) {
      if (seconds <= kBounds[i]) ++up_to_[i];
    }
  }

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] double sum() const noexcept { return sum_; }
  // How many took kBounds[i] at most.
  [[nodiscard]] std::uint64_t up_to(std::size_t i) const noexcept { return up_to_[i]; }

 private:
  std::array<std::uint64_t, kBounds.size()> up_to_{};
  std::uint64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace keysieve
