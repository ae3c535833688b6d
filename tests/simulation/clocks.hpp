// What the clocks and the random numbers of simulated machines say. While a SimulatedTime exists,
// clock_gettime() and getrandom() of this program answer by it, for the product's code as well.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>

namespace keysieve::test {

using SimulatedMs = std::int64_t;  // since the simulation began

inline constexpr SimulatedMs kSecond = 1'000;
inline constexpr SimulatedMs kMinute = 60 * kSecond;
inline constexpr SimulatedMs kHour = 60 * kMinute;

struct Machine {
  std::string name;
  SimulatedMs clock_is_off = 0;  // its wall clock, from the true time
  SimulatedMs booted_at = 0;
};

class SimulatedTime {
 public:
  explicit SimulatedTime(std::uint64_t seed);
  ~SimulatedTime();
  SimulatedTime(const SimulatedTime&) = delete;
  SimulatedTime& operator=(const SimulatedTime&) = delete;

  SimulatedMs now = 0;
  // The one whose clocks are read; never nullptr.
  const Machine* machine;
  // Makes all bytes that are called random.
  std::mt19937_64 random;
};

// Lets code run on a machine.
class OnMachine {
 public:
  OnMachine(SimulatedTime& time, const Machine& machine)
      : time_(time), before_(std::exchange(time.machine, &machine)) {}
  ~OnMachine() { time_.machine = before_; }
  OnMachine(const OnMachine&) = delete;
  OnMachine& operator=(const OnMachine&) = delete;

 private:
  SimulatedTime& time_;
  const Machine* before_;
};

}  // namespace keysieve::test
