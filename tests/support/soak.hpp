// Fault tests run a few rounds with the other tests, and all rounds in tools/soak.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace keysieve::test {

// Rounds of a test: `all` in tools/soak, which sets KEYSIEVE_SOAK, otherwise `few`.
inline unsigned soak_rounds(unsigned few, unsigned all) {
  return std::getenv("KEYSIEVE_SOAK") != nullptr ? all : few;
}

// One line of what tools/soak prints at its end: what was tried, how often, what happened.
inline void soak_report(std::string_view line) {
  std::cout << "soak: " << line << std::endl;
}

}  // namespace keysieve::test
