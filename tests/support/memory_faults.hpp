// Work that meets exhausted memory: each of its allocations fails in turn, once alone and once with all that
// follow.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <optional>
#include <string>

#include "tests/support/failing_allocations.hpp"
#include "tests/support/soak.hpp"

namespace keysieve::test {

// How the work ended for its caller.
struct StarvedEnd {
  bool is_done = false;
  bool is_out_of_memory = false;  // ended by std::bad_alloc
  std::string message{};          // of any other exception
};

// Does the work, in which the allocation with that number, from 1, fails. Returns how it ended; nothing if
// there are fewer allocations.
inline std::optional<StarvedEnd> starve(std::uint64_t number, bool lasts, const std::function<void()>& work) {
  StarvedEnd end;
  std::uint64_t made = 0;
  try {
    begin_failing_allocations(number, lasts);
    work();
    made = end_failing_allocations();
    end.is_done = true;
  } catch (const std::bad_alloc&) {
    made = end_failing_allocations();
    end.is_out_of_memory = true;
  } catch (const std::exception& error) {
    made = end_failing_allocations();
    end.message = error.what();
  }
  if (made < number) return std::nullopt;
  return end;
}

// Which allocations are tried: each of the first `dense` ones, then each `stride`-th.
struct Tries {
  std::uint64_t dense = ~std::uint64_t{0};
  std::uint64_t stride = 1;
};

// Calls `meet` for allocations of some work until it returns false, because there are fewer; first each fails
// alone, then with all that follow, for which the stride begins at others. Stops at the first failure.
// Fails if the work had hardly any allocations: then they were not counted.
inline void for_each_allocation(const std::function<bool(std::uint64_t number, bool lasts)>& meet,
                                const Tries& tries = {}) {
  std::uint64_t tried = 0;
  for (const bool lasts : {false, true}) {
    std::uint64_t step = 1;
    for (std::uint64_t number = 1; !::testing::Test::HasFailure(); number += step) {
      SCOPED_TRACE("allocation " + std::to_string(number) + (lasts ? " and all that follow" : ""));
      if (!meet(number, lasts)) break;
      ++tried;
      if (number == tries.dense) step = lasts ? 1 + tries.stride / 2 : tries.stride;
      if (number > tries.dense) step = tries.stride;
    }
  }
  EXPECT_GT(tried, 5U);
  soak_report(tried, "allocations");
}

}  // namespace keysieve::test
