// For stores with a short time limit, which a busy machine may exceed where a case is not about that.
#pragma once

#include <chrono>
#include <thread>

#include "core/base/error.hpp"
#include "tests/support/forked.hpp"

namespace keysieve::test {

// What `ask` returns, once it does not throw Unavailable; for at most kDeadline, then it throws that.
template <typename Ask>
auto when_available(const Ask& ask) {
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  for (;;) {
    try {
      return ask();
    } catch (const Error& error) {
      if (!error.is_outage()) throw;
      if (std::chrono::steady_clock::now() > end) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace keysieve::test
