// Fault tests run a few rounds with the other tests, and all rounds in `tools/test soak`.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace keysieve::test {

// Rounds of a test: `all` in `tools/test soak`, which sets KEYSIEVE_SOAK, otherwise `few`.
inline unsigned soak_rounds(unsigned few, unsigned all) {
  return std::getenv("KEYSIEVE_SOAK") != nullptr ? all : few;
}

// Which of the first `stride` moments or bytes is tried first, before each `stride`-th: as tools/test draws,
// so that each run tries other ones.
inline unsigned drawn_offset(std::size_t stride) {
  const char* const drawn = std::getenv("KEYSIEVE_DRAW");
  return drawn == nullptr ? 0 : static_cast<unsigned>(std::strtoull(drawn, nullptr, 10) % stride);
}

// One line of what `tools/test soak` prints at its end: the case, and what it has tried how often.
inline void soak_report(std::uint64_t count, std::string_view of_what) {
  const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
  std::cout << "soak: " << test.test_suite_name() << "." << test.name() << ": " << count << " " << of_what
            << std::endl;
}

}  // namespace keysieve::test
