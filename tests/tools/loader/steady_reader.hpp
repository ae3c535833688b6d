// A PHP worker's view of a set while it changes: what a reader has once seen as maybe must stay so.
#pragma once

#include <chrono>

#include "core/shm/set_reader.hpp"
#include "tests/support/forked.hpp"
#include "tests/tools/loader/site.hpp"

namespace keysieve::test {

// Ends with this when a key turned absent that was maybe before.
inline constexpr int kLostAKey = 3;

// In a process of its own: looks up the keys of the range again and again, as far as they have come in their
// order, until all are maybe; then it ends with 0.
inline pid_t start_steady_reader(const Site& site, const std::string& set_name, KeyRange keys) {
  return start_process([&] {
    SetReader reader({.directory = site.directory(), .max_jitter = std::chrono::milliseconds(3)}, set_name);
    const auto deadline = std::chrono::steady_clock::now() + 10 * kDeadline;
    for (int seen = 0; seen < keys.count;) {
      const SetReader::Pin pin = reader.pin();
      if (!pin) return 2;
      const auto is_maybe = [&](int i) {
        return pin->may_contain(hash_key(key_number(keys.first + i), pin->snapshot().seed()));
      };
      for (int i = 0; i < seen; ++i) {
        if (!is_maybe(i)) return kLostAKey;
      }
      while (seen < keys.count && is_maybe(seen)) ++seen;
      if (std::chrono::steady_clock::now() > deadline) return 4;
    }
    return 0;
  });
}

}  // namespace keysieve::test
