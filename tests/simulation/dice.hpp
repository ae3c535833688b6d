// What a seed decides.
#pragma once

#include <cstdint>
#include <random>

#include "tests/simulation/clocks.hpp"

namespace keysieve::test {

class Dice {
 protected:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  // One of the numbers below.
  std::uint64_t draw(std::uint64_t below) { return random_() % below; }
  SimulatedMs draw_time(SimulatedMs least, SimulatedMs most) {
    return least + static_cast<SimulatedMs>(draw(static_cast<std::uint64_t>(most - least)));
  }
  // Or 0, in every other simulation.
  unsigned draw_rate(unsigned most) { return draw(2) == 0 ? 0 : 1 + static_cast<unsigned>(draw(most)); }

  std::mt19937_64 random_;
};

}  // namespace keysieve::test
