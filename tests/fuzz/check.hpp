// What must hold for every input.
#pragma once

#include <cstdlib>

namespace keysieve::fuzz {

inline void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace keysieve::fuzz
