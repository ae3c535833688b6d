// Fault tests run a few rounds with the other tests, and all rounds in tools/soak.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace keysieve::test {

// Rounds of a test: `all` in tools/soak, which sets KEYSIEVE_SOAK, otherwise `few`.
inline unsigned soak_rounds(unsigned few, unsigned all) {
  return std::getenv("KEYSIEVE_SOAK") != nullptr ? all : few;
}

// Which of the first `stride` moments or bytes is tried first, before each `stride`-th: as tools/test draws,
// so that each run tries other ones.
inline unsigned drawn_offset(std::size_t stride) {
  const char* const drawn = std::getenv("KEYSIEVE_DRAW");
  return drawn == nullptr ? 0 : static_cast<unsigned>(std::strtoull(drawn, nullptr, 10) % stride);
}

// One line of what tools/soak prints at its end: what was tried, how often, what happened.
inline void soak_report(std::string_view line) {
  std::cout << "soak: " << line << std::endl;
}

}  // namespace keysieve::test
